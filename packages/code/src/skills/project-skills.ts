import { join } from "node:path";
import type { ToolSource } from "@keelson/protocol";
import { findSkills, type Skill, skillSource } from "keelson/skills";
import type { FoundItem } from "../settings/found-item.ts";
import type { ProjectItem } from "../trust/project-item.ts";
import type { ProjectTrust } from "../trust/project-trust.ts";
import { skillItem } from "../trust/skill-items.ts";
import { PROJECT_SKILLS, type SkillFolders, skillFolders } from "./skill-folders.ts";

/**
 * The source of the tool that loads skills. `undefined`: there are none.
 * @param onLeftOut called once for each skill of the project that nobody trusts
 */
export async function openSkills(
  folders: SkillFolders,
  trust: ProjectTrust,
  onLeftOut: (item: ProjectItem) => void,
): Promise<ToolSource | undefined> {
  const paths = skillFolders(folders);
  if ((await findSkills(paths)).skills.length === 0) return undefined;
  const reported = new Set<string>();
  return skillSource({
    folders: paths,
    async accept(skill) {
      if (!isOfProject(skill, folders.project)) return true;
      const item = await skillItem(folders.project, skill.file);
      if (item === undefined) return false;
      if (await trust.allows(item)) return true;
      if (!reported.has(item.digest)) onLeftOut(item);
      reported.add(item.digest);
      return false;
    },
  });
}

/** Each skill: whether it is used, and the reason if it is not. */
export async function foundSkills(folders: SkillFolders, trust: ProjectTrust): Promise<readonly FoundItem[]> {
  const { skills, problems } = await findSkills(skillFolders(folders));
  const left = problems.map(({ file, message, isLeftOut }): FoundItem => ({ file, isUsed: !isLeftOut, reason: message }));
  const used = await Promise.all(skills.map((skill) => foundSkill(skill, folders.project, trust)));
  return [...used, ...left];
}

async function foundSkill(skill: Skill, project: string, trust: ProjectTrust): Promise<FoundItem> {
  const { file, name, allowedTools, isForPeople } = skill;
  if (isOfProject(skill, project)) {
    const item = await skillItem(project, file);
    if (item === undefined)
      return { file, isUsed: false, reason: "it is a link that leads out of the project, or its folder cannot be read" };
    if (!(await trust.allows(item))) return { file, isUsed: false, reason: `not trusted as it is: keelson trust accept ${item.path}` };
  }
  if (isForPeople)
    return {
      file,
      isUsed: false,
      reason: "disable-model-invocation is true: the model is not told of it; read the file with it in a message",
    };
  return {
    file,
    isUsed: true,
    reason: `the skill ${name}${allowedTools.length > 0 ? "; allowed-tools is no permission: calls ask as usual" : ""}`,
  };
}

function isOfProject({ file }: Skill, project: string): boolean {
  return PROJECT_SKILLS.some((folder) => file.startsWith(`${join(project, folder)}/`));
}
