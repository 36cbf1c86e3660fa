import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { readInstructionFile } from "../instructions/index.ts";
import { type MarkdownCommand, readMarkdownCommand } from "./markdown-command.ts";

export interface CommandFolders {
  /** The folder of Keelson. */
  readonly home: string;
  readonly userHome: string;
  /** The root of the repository. */
  readonly project: string;
}

/** Below the root of a repository. */
export const PROJECT_COMMANDS: readonly string[] = [".keelson/commands", ".claude/commands"];
const MAX_FILES = 500;
const MAX_DEPTH = 5;
const MAX_BYTES = 64 * 1024;
const NAME = /^[A-Za-z][\w.:-]*$/;

/** A Markdown file in a folder of commands. */
export interface CommandFile {
  readonly file: string;
  readonly name: string;
  /** The root that it must not lead out of. Absent: it is the person's own. */
  readonly within?: string;
}

/** Lists the files of commands, the person's own first: a repository must not replace them. */
export async function commandFiles({ home, userHome, project }: CommandFolders): Promise<readonly CommandFile[]> {
  const own = await Promise.all([join(home, "commands"), join(userHome, ".claude/commands")].map((folder) => filesBelow(folder)));
  const ofProject = await Promise.all(PROJECT_COMMANDS.map((folder) => filesBelow(join(project, folder), project)));
  return [...own.flat(), ...ofProject.flat()];
}

export async function filesBelow(folder: string, within?: string): Promise<readonly CommandFile[]> {
  const found: CommandFile[] = [];
  const walk = async (at: string, parts: readonly string[]): Promise<void> => {
    const entries = await readdir(at, { withFileTypes: true }).catch(() => []);
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      if (found.length >= MAX_FILES) return;
      const path = join(at, entry.name);
      if (entry.isDirectory() && parts.length < MAX_DEPTH) await walk(path, [...parts, entry.name]);
      const name = [...parts, entry.name.replace(/\.md$/, "")].join(":");
      if (!entry.isDirectory() && entry.name.endsWith(".md") && NAME.test(name))
        found.push({ file: path, name, ...(within !== undefined && { within }) });
    }
  };
  await walk(folder, []);
  return found;
}

/** Reads the command of a file as it is now. `undefined`: there is none, or it cannot be read. */
export async function readCommandFile({
  file,
  name,
  within,
}: CommandFile): Promise<{ readonly command: MarkdownCommand; readonly digest: string } | undefined> {
  const read = await readInstructionFile(file, MAX_BYTES, within);
  return read?.digest === undefined ? undefined : { command: readMarkdownCommand(read.text, { name, file }), digest: read.digest };
}
