import { join, relative, sep } from "node:path";
import { filesBelow, PROJECT_COMMANDS, readCommandFile } from "../slash-commands/command-files.ts";
import type { MarkdownCommand } from "../slash-commands/markdown-command.ts";
import type { ProjectItem } from "./project-item.ts";

/** The commands of the prompt that a project brings as Markdown files. */
export async function commandItems(project: string): Promise<readonly ProjectItem[]> {
  const files = (await Promise.all(PROJECT_COMMANDS.map((folder) => filesBelow(join(project, folder), project)))).flat();
  const read = await Promise.all(files.map(async (one) => ({ file: one.file, now: await readCommandFile(one) })));
  return read.flatMap(({ file, now }) => (now === undefined ? [] : [commandItem(project, file, now)]));
}

/** Returns the identity of a command for trust. */
export function commandItem(
  project: string,
  file: string,
  { command, digest }: { readonly command: MarkdownCommand; readonly digest: string },
): ProjectItem {
  const shows = [`the command /${command.name}: ${command.description}`, ...command.text.split("\n")];
  return { kind: "instructions", path: relative(project, file).split(sep).join("/"), digest, shows };
}
