import { relative, sep } from "node:path";
import { createDiskVfs } from "keelson/environment";
import { findAgentsMd, type InstructionFile, placesIn, readInstructionsAt } from "../instructions/index.ts";
import type { ProjectItem, ProjectLook } from "./project-item.ts";

// More than any repository has; what is beyond is not trusted.
const MAX_FILES = 1_000;

/** All files of instructions of a project but those that git ignores below its root; with `cwd` those that hold there from the start. */
export async function instructionItems(project: string, { cwd }: Pick<ProjectLook, "cwd">): Promise<readonly ProjectItem[]> {
  const files = cwd === undefined ? await findAll(project) : await findAgentsMd({ cwd });
  return files.map((file) => instructionItem(project, file)).filter((item) => item !== undefined);
}

async function findAll(project: string): Promise<readonly InstructionFile[]> {
  const disk = createDiskVfs({ root: project });
  const found = await disk.glob("**/{AGENTS,AGENTS.override,CLAUDE,CLAUDE.local}.md", { gitignore: true, limit: MAX_FILES });
  // Files for one person are often ignored by git.
  const paths = new Set([...placesIn(project, project), ...found].map(({ path }) => path));
  const files = await Promise.all([...paths].map((path) => readInstructionsAt(path, project)));
  return files.filter((file) => file !== undefined);
}

/** What this file is trusted as. `undefined`: it could not be read. */
export function instructionItem(project: string, { path, text, digest, note }: InstructionFile): ProjectItem | undefined {
  if (digest === undefined) return undefined;
  const shows = [...text.split("\n"), ...(note === undefined ? [] : [note])];
  return { kind: "instructions", path: relative(project, path).split(sep).join("/"), digest, shows };
}
