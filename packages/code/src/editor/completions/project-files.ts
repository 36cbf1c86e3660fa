import { relative } from "node:path";
import type { Vfs } from "@keelson/protocol";

/** The files of a project, as searches find them. */
export interface ProjectFiles {
  /** Returns paths relative to the project; folders end with a slash. A list is used for some seconds. */
  list(): Promise<readonly string[]>;
}

export interface ProjectFilesOptions {
  readonly files: Pick<Vfs, "glob">;
  /** The working directory, absolute. */
  readonly cwd: string;
  /** Unix ms. */
  now(): number;
  readonly maxFiles?: number;
}

const KEPT_MS = 5_000;
const MAX_FILES = 200_000;

export function createProjectFiles({ files, cwd, now, maxFiles = MAX_FILES }: ProjectFilesOptions): ProjectFiles {
  let listed: { readonly at: number; readonly paths: Promise<readonly string[]> } | undefined;

  async function read(): Promise<readonly string[]> {
    const entries = await files.glob("**/*", { gitignore: true, leaveOut: ["node_modules"], limit: maxFiles });
    const above = cwd.endsWith("/") ? cwd : `${cwd}/`;
    return entries.map(
      ({ path, isDir }) => `${path.startsWith(above) ? path.slice(above.length) : relative(cwd, path)}${isDir ? "/" : ""}`,
    );
  }

  return {
    list() {
      // A listing that takes long serves all keys that wait for it.
      if (listed !== undefined && now() - listed.at < KEPT_MS) return listed.paths;
      const paths = read();
      const current = { at: now(), paths };
      listed = current;
      const restart = (): void => {
        if (listed === current) listed = { at: now(), paths };
      };
      const forget = (): void => {
        if (listed === current) listed = undefined;
      };
      paths.then(restart, forget);
      return paths;
    },
  };
}

/** Returns the paths that are in the fewest folders, in their order, without sorting a large project. */
export function nearestPaths(paths: readonly string[], limit: number): readonly string[] {
  const byDepth: string[][] = [];
  for (const path of paths) {
    const level = (byDepth[depthOf(path)] ??= []);
    if (level.length < limit) level.push(path);
  }
  return byDepth.flat().slice(0, limit);
}

function depthOf(path: string): number {
  let depth = 0;
  for (let slash = path.indexOf("/"); slash !== -1 && slash < path.length - 1; slash = path.indexOf("/", slash + 1)) depth += 1;
  return depth;
}
