/** What a repository brings that would run, or that the agent would obey. */
export type ProjectItemKind = (typeof KINDS)[number];

const KINDS = ["instructions", "hooks", "server", "settings"] as const;

export function isProjectItemKind(value: unknown): value is ProjectItemKind {
  return (KINDS as readonly unknown[]).includes(value);
}

export interface ProjectItem {
  readonly kind: ProjectItemKind;
  /** Below the project's folder, with `/`; of one thing among others in a file, its name behind a `#`. */
  readonly path: string;
  /** SHA-256 of all that it would do, in hex. */
  readonly digest: string;
  /** For a person: what it would run or say, a line each. */
  readonly shows: readonly string[];
}

export interface ProjectLook {
  /** Of the process, as far as what the project brings depends on it. */
  readonly environment: { readonly [name: string]: string | undefined };
  /** A folder of the project: only what a run there would use at once. */
  readonly cwd?: string;
}

/** Finds items of one kind in a project: the root of its repository, a real path. */
export type ProjectSource = (project: string, look: ProjectLook) => Promise<readonly ProjectItem[]>;
