import { mainFolderOf } from "../worktrees/linked-worktree.ts";
import type { Home } from "./home.ts";
import { appendJsonLines, readJsonLines } from "./json-lines.ts";

/** What a person allowed for good in one project: a pattern of an allow rule. */
export interface ProjectRule {
  /** Real path of the folder that it holds in. */
  readonly project: string;
  readonly pattern: string;
  /** Unix ms. */
  readonly allowedAt: number;
}

// Kept in the home folder, never in the project: what comes with a repository must not give itself rights.
type Line = { readonly project: string; readonly at: number } & ({ readonly allow: string } | { readonly remove: string });

/** Returns the rules of a project, also for a linked worktree of it; without a project those of all. @throws AgentError of kind `backend` when the file is damaged */
export async function readProjectRules({ permissions }: Pick<Home, "permissions">, project?: string): Promise<readonly ProjectRule[]> {
  const rules = new Map<string, ProjectRule>();
  const folder = project === undefined ? undefined : mainFolderOf(project);
  for (const line of await readJsonLines(permissions, readLine, UNKNOWN)) {
    if (folder !== undefined && line.project !== folder) continue;
    const pattern = "allow" in line ? line.allow : line.remove;
    const key = JSON.stringify([line.project, pattern]);
    if ("remove" in line) rules.delete(key);
    else rules.set(key, { project: line.project, pattern, allowedAt: line.at });
  }
  return [...rules.values()];
}

export async function allowInProject(
  home: Pick<Home, "permissions">,
  project: string,
  patterns: readonly string[],
  at: number,
): Promise<void> {
  await appendJsonLines(
    home.permissions,
    patterns.map((allow): Line => ({ project: mainFolderOf(project), allow, at })),
  );
}

/** @returns whether it was allowed until now */
export async function removeFromProject(home: Pick<Home, "permissions">, project: string, pattern: string, at: number): Promise<boolean> {
  const known = await readProjectRules(home, project);
  if (!known.some((rule) => rule.pattern === pattern)) return false;
  await appendJsonLines(home.permissions, [{ project: mainFolderOf(project), remove: pattern, at } satisfies Line]);
  return true;
}

const UNKNOWN = "what is allowed isn't known. Mend or remove that line, or the file; what it allowed is then asked about again.";

function readLine({ project, at, allow, remove }: { readonly [name: string]: unknown }): Line | undefined {
  if (typeof project !== "string" || typeof at !== "number") return undefined;
  if (typeof allow === "string") return { project, at, allow };
  return typeof remove === "string" ? { project, at, remove } : undefined;
}
