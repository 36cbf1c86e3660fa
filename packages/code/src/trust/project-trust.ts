import type { Home } from "../core/home.ts";
import { appendJsonLines, readJsonLines } from "../core/json-lines.ts";
import { mainFolderOf } from "../worktrees/linked-worktree.ts";
import { isProjectItemKind, type ProjectItem } from "./project-item.ts";

/** What of a project is trusted on this machine, as it was when somebody trusted it. */
export interface ProjectTrust {
  /** The root of the repository; a real path. */
  readonly project: string;
  /** Anything that the project brings may be used, also what changes later. */
  readonly trustsAll?: true;
  /** Whether exactly this may be used. It is looked up each time, so that a decision in another terminal holds at once. */
  allows(item: TrustedItem): Promise<boolean>;
}

/** One thing in one state: whoever changes it asks again. */
export type TrustedItem = Pick<ProjectItem, "kind" | "path" | "digest">;

// Kept in the home folder, never in the project. A later line about the same path takes the place of an earlier one.
type Line = { readonly project: string; readonly at: number } & (
  | { readonly trust: TrustedItem }
  | { readonly forget: true }
  // A kind that a later version knows: it trusts nothing here.
  | { readonly unknown: true }
);

export function createProjectTrust(home: Pick<Home, "trust">, project: string): ProjectTrust {
  return {
    project,
    async allows({ kind, path, digest }) {
      return (await readTrusted(home, project)).some((item) => item.kind === kind && item.path === path && item.digest === digest);
    },
  };
}

/** Trusts whatever a project brings, now and later. */
export function trustAll(project: string): ProjectTrust {
  return { project, trustsAll: true, allows: async () => true };
}

/** @throws AgentError of kind `backend` when the file is damaged */
export async function readTrusted({ trust }: Pick<Home, "trust">, project: string): Promise<readonly TrustedItem[]> {
  const items = new Map<string, TrustedItem>();
  const places = placesOfTrust(project);
  for (const line of await readJsonLines(trust, readLine, UNKNOWN)) {
    if (!places.includes(line.project)) continue;
    if ("forget" in line) for (const key of [...items.keys()].filter((one) => one.startsWith(`${line.project}\0`))) items.delete(key);
    if ("trust" in line) items.set(`${line.project}\0${line.trust.kind} ${line.trust.path}`, line.trust);
  }
  return [...items.values()];
}

export async function trustItems(home: Pick<Home, "trust">, project: string, items: readonly TrustedItem[], at: number): Promise<void> {
  await appendJsonLines(
    home.trust,
    items.map(({ kind, path, digest }): Line => ({ project, at, trust: { kind, path, digest } })),
  );
}

/** Nothing of the project is trusted any more. @returns how many items were */
export async function forgetTrust(home: Pick<Home, "trust">, project: string, at: number): Promise<number> {
  const { length } = await readTrusted(home, project);
  if (length > 0)
    await appendJsonLines(
      home.trust,
      placesOfTrust(project).map((place) => ({ project: place, at, forget: true }) satisfies Line),
    );
  return length;
}

/**
 * Returns the folders whose trust holds in a project. What is trusted of a repository is trusted in its linked worktrees, as long as it is the same there. What is trusted in a worktree holds in that
 * worktree: it may be of another branch, and must not take the place of what is trusted in the repository.
 */
function placesOfTrust(project: string): readonly string[] {
  return [...new Set([project, mainFolderOf(project)])];
}

const UNKNOWN = "what is trusted isn't known. Mend or remove that line, or the file; what it trusted is then asked about again.";

function readLine({ project, at, trust, forget }: { readonly [name: string]: unknown }): Line | undefined {
  if (typeof project !== "string" || typeof at !== "number") return undefined;
  if (forget === true) return { project, at, forget };
  if (typeof trust !== "object" || trust === null) return undefined;
  const { kind, path, digest } = trust as { readonly [name: string]: unknown };
  if (typeof kind !== "string" || typeof path !== "string" || typeof digest !== "string") return undefined;
  return isProjectItemKind(kind) ? { project, at, trust: { kind, path, digest } } : { project, at, unknown: true };
}
