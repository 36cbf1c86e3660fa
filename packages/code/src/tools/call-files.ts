import { normalize, relative, resolve } from "node:path/posix";
import { type CallPlace, type PlannedFiles, type ToolCall, ToolError, type Vfs, VfsError } from "@keelson/protocol";
import { createDiskVfs } from "keelson/environment";
import type { Workspace } from "../workspace/workspace.ts";
import type { WorkspaceFiles } from "../workspace/workspace-files.ts";

/** The context of a tool that works on files. */
export type FilesContext = Pick<Workspace, "files">;

/** Returns a path for the model and the person: relative to the root if it is inside, else absolute. One that begins with `~` gets `./`, because `~` is the home folder. */
export function shownPath({ root = "/" }: PlannedFiles, path: string): string {
  const inside = relative(root, resolve(root, path));
  if (inside === "") return ".";
  if (inside === ".." || inside.startsWith("../")) return normalize(path);
  return inside.startsWith("~") ? `./${inside}` : inside;
}

/**
 * Returns the path that permission rules see: the one that it really leads to, so that neither `./`, nor `..`, nor a link gets around a rule. A path that
 * leads outside is shown as it is; using it fails anyway.
 */
export async function plannedPath(place: CallPlace<FilesContext>, path: string): Promise<string> {
  const files = place.environment?.files ?? plannedFiles(place) ?? {};
  try {
    return shownPath(files, await realPath(files, path));
  } catch (error) {
    if (!VfsError.is(error)) throw error;
    return shownPath(files, path);
  }
}

/** Returns the files of the project before a call. A rehearsal, which makes no workspace, knows the folder alone. */
export function plannedFiles({ context, cwd }: CallPlace<FilesContext>): WorkspaceFiles | undefined {
  return context?.files ?? (cwd === undefined ? undefined : createDiskVfs({ root: cwd }));
}

/** Where a path leads, links followed. */
export async function realPath(files: PlannedFiles, path: string): Promise<string> {
  return files.realPath === undefined ? resolve(files.root ?? "/", path) : files.realPath(path);
}

/** Returns the files that a call works on: those of the environment that its run is held in, if there is one, else those of the workspace. */
export function filesOf({ environment, context }: Pick<ToolCall<FilesContext>, "environment" | "context">, tool: string): Vfs {
  if (environment === undefined) return context.files;
  if (environment.files === undefined) throw toolFailure(tool, "The environment of this run has no files.");
  return environment.files;
}

/** A failure that the model can act on. */
export function toolFailure(tool: string, message: string, cause?: unknown): ToolError {
  return new ToolError({ kind: "execution-failed", tool, message }, { cause });
}
