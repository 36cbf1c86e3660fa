import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { readInstructionFile } from "../instructions/index.ts";
import type { FoundItem } from "../settings/found-item.ts";
import { commandItem } from "../trust/command-items.ts";
import type { ProjectItem } from "../trust/project-item.ts";
import type { ProjectTrust } from "../trust/project-trust.ts";
import { UsageError } from "../options/usage-error.ts";
import { parseSlashLine } from "./parse-slash-line.ts";
import { expandCommand, type MarkdownCommand, readMarkdownCommand } from "./markdown-command.ts";
import type { SlashCommand } from "./slash-command.ts";

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

/**
 * The commands of Markdown files as entries of the table. Each reads its file when it is used, and sends the text if the file is trusted then.
 * @param onLeftOut called for each command of the project that nobody trusts
 */
export async function markdownCommands(
  folders: CommandFolders,
  trust: ProjectTrust,
  onLeftOut: (item: ProjectItem) => void = () => {},
): Promise<readonly SlashCommand[]> {
  const files = await commandFiles(folders);
  const read = await Promise.all(files.map(async (one) => ({ one, now: await readCommandFile(one) })));
  for (const { one, now } of read) {
    const item = now === undefined || one.within === undefined ? undefined : commandItem(trust.project, one.file, now);
    if (item !== undefined && !(await trust.allows(item))) onLeftOut(item);
  }
  return read.flatMap(({ one, now }): readonly SlashCommand[] => {
    if (now === undefined) return [];
    const { name, description, argumentHint, file } = now.command;
    const last = name.split(":").at(-1) as string;
    return [
      {
        name,
        ...(last !== name && { aliases: [last] }),
        description,
        ...(argumentHint !== undefined && { argumentHint }),
        file,
        async execute(argument, prompt) {
          const message = await messageOf(one, argument, trust);
          if (typeof message !== "string") return [prompt.style.yellow(message.problem)];
          return prompt.send(message);
        },
      },
    ];
  });
}

/** Returns the message of a command file, or the reason why it is not sent. */
export async function messageOf(one: CommandFile, argument: string, trust: ProjectTrust): Promise<string | { readonly problem: string }> {
  const now = await readCommandFile(one);
  if (now === undefined) return { problem: `${one.file} cannot be read any more` };
  if (one.within !== undefined) {
    const item = commandItem(trust.project, one.file, now);
    if (!(await trust.allows(item)))
      return { problem: `/${one.name} is not used, because nobody trusts ${item.path} as it is: keelson trust accept ${item.path}` };
  }
  return expandCommand(now.command.text, argument);
}

/** Each file of a command: whether it is used, and what of it is not. */
export async function foundCommands(folders: CommandFolders, trust: ProjectTrust): Promise<readonly FoundItem[]> {
  const names = new Set<string>();
  const found: FoundItem[] = [];
  for (const one of await commandFiles(folders)) {
    const { file, name, within } = one;
    const now = await readCommandFile(one);
    if (now === undefined)
      found.push({ file, isUsed: false, reason: "it is empty, cannot be read, or is a link that leads out of the project" });
    else if (names.has(name)) found.push({ file, isUsed: false, reason: `another file has the command /${name}` });
    else if (within !== undefined && !(await trust.allows(commandItem(trust.project, file, now))))
      found.push({
        file,
        isUsed: false,
        reason: `not trusted as it is: keelson trust accept ${commandItem(trust.project, file, now).path}`,
      });
    else found.push({ file, isUsed: true, reason: [`the command /${name}`, ...now.command.unused].join("; ") });
    names.add(name);
  }
  return found;
}

/**
 * Returns the message of a task that begins with the name of a Markdown command, else the task as it is.
 * @throws UsageError if the command is not trusted
 */
export async function expandTask(task: string, folders: CommandFolders, trust: ProjectTrust): Promise<string> {
  const line = parseSlashLine(task);
  if (line === undefined) return task;
  const one = (await commandFiles(folders)).find(({ name }) => name === line.name);
  if (one === undefined) return task;
  const message = await messageOf(one, line.argument, trust);
  if (typeof message !== "string") throw new UsageError(message.problem, "Or use it for this run alone, with --trust.");
  return message;
}
