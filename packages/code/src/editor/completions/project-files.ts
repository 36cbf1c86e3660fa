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
    return entries.map(({ path, isDir }) => `${relative(cwd, path)}${isDir ? "/" : ""}`).toSorted(byDepth);
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

/** Files near the top come first: without a query they are shown in this order. */
function byDepth(a: string, b: string): number {
  return depth(a) - depth(b) || (a < b ? -1 : 1);
}

function depth(path: string): number {
  return path.split("/").length - (path.endsWith("/") ? 1 : 0);
}
