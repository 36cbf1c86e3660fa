/** What a repository brings that would run, or that the agent would obey. */
export type ProjectItemKind = (typeof KINDS)[number];

const KINDS = ["instructions", "hooks"] as const;

export function isProjectItemKind(value: unknown): value is ProjectItemKind {
  return (KINDS as readonly unknown[]).includes(value);
}

export interface ProjectItem {
  readonly kind: ProjectItemKind;
  /** Below the project's folder, with `/`. */
  readonly path: string;
  /** SHA-256 of all that it would do, in hex. */
  readonly digest: string;
  /** For a person: what it would run or say, a line each. */
  readonly shows: readonly string[];
}

/**
 * Finds items of one kind in a project: the root of its repository, a real path. With `cwd`, a folder of it, only what a run there
 * would use at once.
 */
export type ProjectSource = (project: string, cwd?: string) => Promise<readonly ProjectItem[]>;
