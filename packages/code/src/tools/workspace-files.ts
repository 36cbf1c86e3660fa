import { normalize, relative, resolve } from "node:path/posix";
import { ToolError, type Vfs, VfsError } from "@keelson/protocol";

/** The files a coding agent works on: any `Vfs` that knows its root. `createDiskVfs` makes one. */
export interface WorkspaceFiles extends Vfs {
  /** Absolute. Paths are shown and judged relative to it. */
  readonly root: string;
  /** The path that a given path leads to, links followed; throws `VfsError` when it leads outside. */
  resolve(path: string): string;
}

/** As the model and the person read it: relative to the root where it lies inside, else absolute. */
export function shownPath(files: WorkspaceFiles, path: string): string {
  const inside = relative(files.root, resolve(files.root, path));
  if (inside === "") return ".";
  return inside === ".." || inside.startsWith("../") ? normalize(path) : inside;
}

/**
 * What permission rules see of a path: where it really leads, so that neither `./`, nor `..`, nor a link gets around a
 * rule. A path that leads outside is shown as it is; using it fails anyway.
 */
export function permissionPath(files: WorkspaceFiles, path: string): string {
  try {
    return shownPath(files, files.resolve(path));
  } catch (error) {
    if (!VfsError.is(error)) throw error;
    return shownPath(files, path);
  }
}

/** A failure that the model can act on. */
export function toolFailure(tool: string, message: string, cause?: unknown): ToolError {
  return new ToolError({ kind: "execution-failed", tool, message }, { cause });
}
