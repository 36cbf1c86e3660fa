import { constants } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { readSkill, type Skill } from "./skill.ts";

/** The skills of some folders. */
export interface FoundSkills {
  /** Names are unique. */
  readonly skills: readonly Skill[];
  readonly problems: readonly SkillProblem[];
}

/** A skill that is not used, or a part of it. */
export interface SkillProblem {
  readonly file: string;
  /** A sentence without its subject: "it has no description". */
  readonly message: string;
  /** The skill is not used. */
  readonly isLeftOut: boolean;
}

const MAX_SKILLS = 500;
const MAX_BYTES = 256 * 1024;

/**
 * Finds the skills in folders: `<folder>/<name>/SKILL.md`. Of two skills with one name that of the earlier folder is used. A folder that is not
 * there has none.
 */
export async function findSkills(folders: readonly string[]): Promise<FoundSkills> {
  const skills = new Map<string, Skill>();
  const problems: SkillProblem[] = [];
  for (const folder of folders) {
    const names = (await readdir(folder).catch(() => [])).toSorted();
    for (const name of names) {
      const file = join(folder, name, "SKILL.md");
      const leaveOut = (message: string): void => void problems.push({ file, message, isLeftOut: true });
      const text = await readBounded(file, MAX_BYTES);
      if (text === undefined) continue;
      if (typeof text !== "string") {
        leaveOut(text.problem);
        continue;
      }
      const skill = readSkill(text, file);
      if ("problem" in skill) leaveOut(skill.problem);
      else if (skills.has(skill.name)) leaveOut(`a skill of the name ${skill.name} is used already: ${skills.get(skill.name)?.file}`);
      else if (skills.size >= MAX_SKILLS) leaveOut(`there are more than ${MAX_SKILLS} skills`);
      else {
        skills.set(skill.name, skill);
        for (const message of skill.problems) problems.push({ file, message, isLeftOut: false });
      }
    }
  }
  return { skills: [...skills.values()], problems };
}

/** @returns the text, or the reason why it is not read; `undefined` if there is no such file */
export async function readBounded(path: string, maxBytes: number): Promise<string | { readonly problem: string } | undefined> {
  try {
    // A pipe of this name must not be waited for.
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await file.stat();
    if (!stats.isFile()) return undefined;
    if (stats.size > maxBytes) return { problem: `it is longer than ${maxBytes} bytes` };
    return await file.readFile("utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? undefined : { problem: `it cannot be read (${code ?? String(error)})` };
  }
}
