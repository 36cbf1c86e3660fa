import { isAbsolute, join, normalize, relative, resolve } from "node:path/posix";
import { type CallPlace, type ToolCall, type ToolOutput, type Vfs, VfsError } from "@keelson/protocol";
import type { Workspace } from "../workspace/workspace.ts";
import { homePath, isHomePath } from "../core/home-path.ts";
import { type FilesContext, filesOf, toolFailure } from "./call-files.ts";

/** The place of a call, before and while it runs. */
type DirectoryPlace = Pick<CallPlace, "kept" | "context">;

/** The name under which the session keeps the working directory. */
const DIRECTORY = "directory";

/**
 * Returns the working directory of a call, relative to the project; "." is the project itself. It is the one that the session kept, or else that in which
 * its workspace starts. All calls of one response have the same, because they were judged together.
 */
export function directoryOf({ kept, context }: DirectoryPlace): string {
  const found = kept?.[DIRECTORY] ?? (context as Partial<Workspace> | undefined)?.start;
  return typeof found === "string" && !leadsOut(found) ? normalize(found) : ".";
}

/**
 * Returns a path that a call names, relative to the project. Absolute paths stay, and `~` is the home folder of the user; a path there stays as it is if
 * that folder is not known.
 */
export function fromDirectory(place: DirectoryPlace & Pick<CallPlace, "environment">, path: string): string {
  if (isHomePath(path)) return (place.environment === undefined ? homePath(path, process.env) : undefined) ?? path;
  const directory = directoryOf(place);
  if (directory === "." || isAbsolute(path)) return path;
  // Behind a link, `..` is the folder above its target, which only the system knows.
  return path.split("/").includes("..") ? `${directory}/${path}` : join(directory, path);
}

/** Returns a path as `fromDirectory` does. @throws ToolError for one in a home folder that is not known */
export function usablePath(place: DirectoryPlace & Pick<CallPlace, "environment">, path: string, tool: string): string {
  const found = fromDirectory(place, path);
  if (!isHomePath(found)) return found;
  const reason = place.environment === undefined ? "HOME names none" : "that of this environment is not known";
  throw toolFailure(tool, `${path} is in the home folder, and ${reason}: give an absolute path. A folder that is named ~ is ./${path}.`);
}

/** Moves the working directory of later calls. @param path absolute, with links followed @returns true if it is in the project */
export async function moveDirectory(call: ToolCall, path: string, files: Vfs): Promise<boolean> {
  const inside = relative(await realRoot(files), path) || ".";
  if (leadsOut(inside)) return false;
  call.keep?.(DIRECTORY, inside);
  return true;
}

/** Follows the shell of a command that succeeded. @returns a note for the model if the folder is another now */
export async function followDirectory(
  call: ToolCall<Pick<Workspace, "files" | "start">>,
  path: string | undefined,
): Promise<readonly string[]> {
  const files = filesIn(call);
  if (path === undefined || files === undefined || call.keep === undefined) return [];
  const before = directoryOf(call);
  if (resolve(await realRoot(files), before) === path) return [];
  if (!(await moveDirectory(call, path, files)))
    return [`[${path} is outside of the project: your next commands start in ${shown(before)} as before]`];
  const inside = relative(await realRoot(files), path) || ".";
  return [`[the working directory is now ${shown(inside)}: commands and relative paths of your next responses start there]`];
}

/** Leaves a working directory that is gone. @returns the result of the call, which was judged in that folder and so does not run; `undefined` if it is there */
export async function leaveMissingDirectory(call: ToolCall<Pick<Workspace, "files" | "start">>): Promise<ToolOutput | undefined> {
  const files = filesIn(call);
  const directory = directoryOf(call);
  if (directory === "." || files === undefined || (await isFolder(files, directory, call.signal))) return undefined;
  call.keep?.(DIRECTORY, ".");
  const text = `Not run: the working directory ${shown(directory)} is gone. Commands start in the project's root again; call this again if it fits there.`;
  return { type: "content", content: [{ type: "text", text }], isError: true };
}

/** Returns the files of a call. `undefined`: its environment has none. */
function filesIn(call: ToolCall<FilesContext>): Vfs | undefined {
  return call.environment !== undefined && call.environment.files === undefined ? undefined : filesOf(call, "bash");
}

async function isFolder(files: Vfs, path: string, signal: AbortSignal): Promise<boolean> {
  try {
    return (await files.stat(path, { signal })).isDir;
  } catch (error) {
    if (VfsError.is(error)) return false;
    throw error;
  }
}

async function realRoot(files: Vfs): Promise<string> {
  const { root = "/" } = files;
  return files.realPath === undefined ? root : files.realPath(".");
}

function leadsOut(path: string): boolean {
  const plain = normalize(path);
  return isAbsolute(plain) || plain === ".." || plain.startsWith("../");
}

function shown(directory: string): string {
  return directory === "." ? "the project's root" : directory;
}
