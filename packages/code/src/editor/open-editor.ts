import { spawn } from "node:child_process";

export interface OpenEditorOptions {
  readonly environment: { readonly [name: string]: string | undefined };
  /** The end of the error if the editor fails: the state of the text. */
  readonly otherwise: string;
}

/** Returns the command of the person's editor (`$VISUAL`, else `$EDITOR`), which may have arguments; `undefined` if none is set. */
export function editorOf(environment: OpenEditorOptions["environment"]): string | undefined {
  return [environment["VISUAL"], environment["EDITOR"]].find((command) => command !== undefined && command.trim() !== "");
}

/**
 * Opens a file in an editor, which gets the terminal, and waits for its end. Nothing else may read or write the terminal meanwhile.
 * @param editor a command as `editorOf` returns it
 * @throws Error if the editor cannot be started, or ends with another code than 0
 */
export async function openEditor(editor: string, file: string, { environment, otherwise }: OpenEditorOptions): Promise<void> {
  const isWindows = process.platform === "win32";
  // A shell splits the command into words, as git does; the file is an argument of its own.
  const child = isWindows
    ? spawn(`${editor} "${file}"`, { stdio: "inherit", shell: true, env: environment })
    : spawn("/bin/sh", ["-c", `${editor} "$1"`, "keelson", file], { stdio: "inherit", env: environment });
  const code = await new Promise<number | string>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (exitCode, signal) => resolve(exitCode ?? signal ?? "unknown"));
  });
  if (code !== 0) throw new Error(`The editor "${editor}" ended with ${code}. ${otherwise}`);
}
