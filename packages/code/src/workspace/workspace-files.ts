import type { Vfs } from "@keelson/protocol";

/** The files a coding agent works on if its run has no environment: a `Vfs` that knows its root. `createDiskVfs` makes one. */
export interface WorkspaceFiles extends Vfs {
  /** Absolute. Paths are shown and judged relative to it. */
  readonly root: string;
  realPath(path: string): Promise<string>;
  /** Returns the path that a given path leads to, links followed; throws `VfsError` if it leads outside. */
  resolve(path: string): string;
}
