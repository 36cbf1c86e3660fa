import { join } from "node:path";

export interface SkillFolders {
  /** The folder of Keelson. */
  readonly home: string;
  readonly userHome: string;
  /** The root of the repository. */
  readonly project: string;
}

/** Below the root of a repository. */
export const PROJECT_SKILLS: readonly string[] = [".keelson/skills", ".claude/skills", ".agents/skills"];

/** The folders of skills, the person's own first: a repository must not replace them. */
export function skillFolders({ home, userHome, project }: SkillFolders): readonly string[] {
  return [
    ...[join(home, "skills"), join(userHome, ".claude/skills"), join(userHome, ".agents/skills")],
    ...PROJECT_SKILLS.map((folder) => join(project, folder)),
  ];
}
