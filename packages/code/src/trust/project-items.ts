import { hookItems } from "./project-hooks.ts";
import { instructionItems } from "./instruction-items.ts";
import type { ProjectItem, ProjectLook, ProjectSource } from "./project-item.ts";
import { serverItems } from "./project-servers.ts";
import { commandItems } from "./command-items.ts";
import { settingsItems } from "./settings-items.ts";
import { skillItems } from "./skill-items.ts";
import type { ProjectTrust } from "./project-trust.ts";

/** Whatever a project may bring registers here; nothing of it is used before it is trusted. */
const SOURCES: readonly ProjectSource[] = [instructionItems, hookItems, serverItems, settingsItems, skillItems, commandItems];

/** Everything that a project brings, by path; with `cwd` what a run in that folder would use at once. */
export async function findProjectItems(project: string, look: ProjectLook): Promise<readonly ProjectItem[]> {
  const found = await Promise.all(SOURCES.map((source) => source(project, look)));
  return found.flat().toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

/** What a run would use at once and may not. */
export async function findUntrusted(trust: ProjectTrust, look: ProjectLook): Promise<readonly ProjectItem[]> {
  const items = await findProjectItems(trust.project, look);
  const allowed = await Promise.all(items.map((item) => trust.allows(item)));
  return items.filter((_item, index) => allowed[index] !== true);
}
