import { createHash } from "node:crypto";
import { dirname, join, relative, sep } from "node:path";
import { findSkills } from "keelson/skills";
import { readInstructionFile } from "../instructions/index.ts";
import { PROJECT_SKILLS } from "../skills/skill-folders.ts";
import { CoveredFiles } from "./covered/covered-files.ts";
import type { ProjectItem } from "./project-item.ts";

const MAX_BYTES = 256 * 1024;

/** The skills that a project brings. */
export async function skillItems(project: string): Promise<readonly ProjectItem[]> {
  const { skills } = await findSkills(PROJECT_SKILLS.map((folder) => join(project, folder)));
  const items = await Promise.all(skills.map(({ file }) => skillItem(project, file)));
  return items.filter((item) => item !== undefined);
}

/** Returns the identity of a skill for trust, which is that of all files in its folder. `undefined`: it leads out of the project. */
export async function skillItem(project: string, file: string): Promise<ProjectItem | undefined> {
  const read = await readInstructionFile(file, MAX_BYTES, project);
  if (read?.digest === undefined) return undefined;
  const files = new CoveredFiles(project);
  files.addFolder(dirname(file));
  const digest = createHash("sha256")
    .update(JSON.stringify([read.digest, files.state()]))
    .digest("hex");
  return { kind: "instructions", path: relative(project, file).split(sep).join("/"), digest, shows: read.text.split("\n") };
}
