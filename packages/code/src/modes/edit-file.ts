import { spawn } from "node:child_process";
import { printableLine } from "../text/printable.ts";

export interface EditFileOptions {
  readonly environment: { readonly [name: string]: string | undefined };
  /** Gives the terminal to another program. @returns takes it back */
  suspend(): () => void;
  /** Runs a program on this terminal. @returns its exit code. Default: as a child of this process */
  readonly run?: (program: string, args: readonly string[]) => Promise<number>;
}

/** Opens a file in the person's editor, and waits until they leave it. @returns lines to show */
export async function editFile(path: string, { environment, suspend, run = runHere }: EditFileOptions): Promise<readonly string[]> {
  const editor = environment["VISUAL"] || environment["EDITOR"] || "";
  if (editor === "") return [`No editor is known: set VISUAL or EDITOR, as in EDITOR=nano. The file is ${printableLine(path)}`];
  const resume = suspend();
  let code: number;
  try {
    // The variable may hold options, which git and others take as a line for the shell.
    code = await run("sh", ["-c", `${editor} "$1"`, "sh", path]);
  } finally {
    resume();
  }
  if (code === 0) return [`edited ${printableLine(path)}`];
  return [`${printableLine(editor)} ended with exit code ${code}; the file is ${printableLine(path)}`];
}

function runHere(program: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: "inherit" });
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
}
