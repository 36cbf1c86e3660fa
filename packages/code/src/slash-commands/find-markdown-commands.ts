import type { FoundItem } from "../settings/found-item.ts";
import { commandItem } from "../trust/command-items.ts";
import type { ProjectItem } from "../trust/project-item.ts";
import type { ProjectTrust } from "../trust/project-trust.ts";
import { UsageError } from "../options/usage-error.ts";
import { parseSlashLine } from "./parse-slash-line.ts";
import { type CommandFile, commandFiles, type CommandFolders, readCommandFile } from "./command-files.ts";
import { expandCommand } from "./markdown-command.ts";
import type { SlashCommand } from "./slash-command.ts";

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
