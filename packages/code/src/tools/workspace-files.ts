import { normalize, relative, resolve } from "node:path/posix";
import { type CallPlace, type PlannedFiles, type ToolCall, ToolError, type Vfs, VfsError } from "@keelson/protocol";

/** The files a coding agent works on where its run has no environment: a `Vfs` that knows its root. `createDiskVfs` makes one. */
export interface WorkspaceFiles extends Vfs {
  /** Absolute. Paths are shown and judged relative to it. */
  readonly root: string;
  realPath(path: string): Promise<string>;
  /** The path that a given path leads to, links followed; throws `VfsError` when it leads outside. */
  resolve(path: string): string;
}

/** As the model and the person read it: relative to the root where it lies inside, else absolute. */
export function shownPath({ root = "/" }: PlannedFiles, path: string): string {
  const inside = relative(root, resolve(root, path));
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

/** The same before a call, which may work on the files of the environment that its run is held in. */
export async function plannedPath({ environment }: CallPlace, own: WorkspaceFiles, path: string): Promise<string> {
  const files = environment?.files ?? own;
  try {
    return shownPath(files, await realPath(files, path));
  } catch (error) {
    if (!VfsError.is(error)) throw error;
    return shownPath(files, path);
  }
}

/** Where a path leads, links followed. */
export async function realPath(files: PlannedFiles, path: string): Promise<string> {
  return files.realPath === undefined ? resolve(files.root ?? "/", path) : files.realPath(path);
}

/** The files that a call works on: those of the environment that its run is held in, where there is one, else the tool's own. */
export function filesOf({ environment }: Pick<ToolCall, "environment">, own: WorkspaceFiles, tool: string): Vfs {
  if (environment === undefined) return own;
  if (environment.files === undefined) throw toolFailure(tool, "The environment of this run has no files.");
  return environment.files;
}

/** A failure that the model can act on. */
export function toolFailure(tool: string, message: string, cause?: unknown): ToolError {
  return new ToolError({ kind: "execution-failed", tool, message }, { cause });
}
