import { createHash } from "node:crypto";
import { dirname, delimiter } from "node:path";
import { CoveredFiles } from "./covered/covered-files.ts";
import { coverLine, coverProgram } from "./covered/cover-program.ts";
import { coverVariables } from "./covered/cover-variables.ts";

/** Keeps Python from writing files beside the scripts that it runs, which would count as a change of what is trusted. */
export const WITHOUT_BYTECODE: { readonly [name: string]: string } = { PYTHONDONTWRITEBYTECODE: "1" };

/** A command of a project: a line for a shell, or a program with arguments. */
export type ProjectCommand = ({ readonly line: string } | { readonly program: string; readonly args: readonly string[] }) & {
  readonly cwd: string;
  /** The variables that it gets beside those of all commands, as they are written. */
  readonly env?: { readonly [name: string]: string };
};

/** The digest of an item, and what the person is shown of the files that it leads to. */
export interface CoveredItem {
  readonly digest: string;
  readonly shows: readonly string[];
}

/**
 * Returns the digest of what these commands would run: their definition, and each file of the project that they lead to. It changes if any
 * of that changes. Where it is not understood what is run, it changes with any file of the project.
 */
export async function coverCommands(project: string, definition: unknown, commands: readonly ProjectCommand[]): Promise<CoveredItem> {
  const files = new CoveredFiles(project);
  // Commands find the Node that runs Keelson first.
  const path = [dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter);
  for (const { cwd, env = {}, ...command } of commands) {
    coverVariables(env, cwd, files);
    files.add(cwd);
    if ("line" in command) await coverLine(command.line, { program: "", args: [], cwd, path }, files);
    else await coverProgram({ ...command, cwd, path }, files);
  }
  const digest = createHash("sha256")
    .update(JSON.stringify([definition, files.state()]))
    .digest("hex");
  return { digest, shows: files.shows() };
}
