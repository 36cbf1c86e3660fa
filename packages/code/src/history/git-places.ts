import { lstatSync, readFileSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path/posix";
import { readGitIndex } from "./git-index.ts";
import { folderOf, keptPath, NAME_ENCODING, nameOf, systemPath } from "./system-path.ts";

/** Returns the folder whose `.git` holds the repository of `folder`; `undefined` if there is none. The home folder of the person does not count. */
export function findWorktree(folder: string): string | undefined {
  const home = keptPath(homedir());
  for (let at = folder; at !== "" && at !== home; at = folderOf(at)) {
    if (lstatSync(systemPath(`${at}/.git`), { throwIfNoEntry: false }) !== undefined) return at;
  }
  return undefined;
}

/**
 * Returns the folders of git that a `.git` names: itself if it is a folder; if it is a file, as in linked worktrees and submodules, the folder that it
 * names and the folder that this one shares with other worktrees.
 */
export function gitFoldersOf(dotGit: string): readonly string[] {
  const found = lstatSync(systemPath(dotGit), { throwIfNoEntry: false });
  if (found === undefined) return [];
  if (found.isDirectory()) return [dotGit];
  if (found.isSymbolicLink()) return [linkedFolder(dotGit)].filter((path) => path !== undefined && isFolder(path)) as string[];
  const named = readLine(dotGit, /^gitdir: (.+)$/);
  if (named === undefined) return [];
  const folder = resolved(folderOf(dotGit), named);
  const common = readLine(`${folder}/commondir`, /^(.+)$/);
  const shared = common === undefined ? undefined : resolved(folder, common);
  return [folder, ...(shared !== undefined && shared !== folder ? [shared] : [])].filter(isFolder);
}

/** True if a folder of a repository holds objects: they never change in place, so they are linked instead of copied. */
export function isObjectsFolder(path: string): boolean {
  const above = folderOf(path);
  switch (nameOf(path)) {
    case "objects":
      return (
        nameOf(above) === "lfs" ||
        nameOf(above) === "annex" ||
        lstatSync(systemPath(`${above}/HEAD`), { throwIfNoEntry: false }) !== undefined
      );
    default:
      return false;
  }
}

/** True for names in folders of git that only the running programs need. */
export function isPassingGitName(name: string): boolean {
  return name.endsWith(".lock") || name.startsWith("fsmonitor--daemon") || name === "gc.pid";
}

/** The paths that the index of a repository lists, and all folders above them, below the worktree. */
export interface TrackedPaths {
  readonly stamp: string;
  readonly files: ReadonlySet<string>;
  readonly folders: ReadonlySet<string>;
}

const NONE: TrackedPaths = { stamp: "", files: new Set(), folders: new Set() };

/** Reads which paths git tracks in a worktree. The result is kept until the index changes. */
export class TrackedFiles {
  readonly #kept = new Map<string, TrackedPaths>();

  in(worktree: string): TrackedPaths {
    const git = gitFoldersOf(`${worktree}/.git`)[0];
    const found = git === undefined ? undefined : lstatSync(systemPath(`${git}/index`), { throwIfNoEntry: false });
    if (git === undefined || found === undefined) return NONE;
    const stamp = `${found.ino}:${found.size}:${found.mtimeMs}:${found.ctimeMs}`;
    const kept = this.#kept.get(worktree);
    if (kept?.stamp === stamp) return kept;
    const tracked = read(`${git}/index`, stamp);
    this.#kept.set(worktree, tracked);
    return tracked;
  }
}

function read(index: string, stamp: string): TrackedPaths {
  let bytes: Buffer;
  try {
    bytes = readFileSync(systemPath(index));
  } catch {
    return { ...NONE, stamp };
  }
  const files = new Set<string>();
  const folders = new Set<string>();
  for (const { path } of readGitIndex(bytes) ?? []) {
    files.add(path);
    for (let folder = folderOf(path); folder !== "" && !folders.has(folder); folder = folderOf(folder)) folders.add(folder);
  }
  return { stamp, files, folders };
}

function linkedFolder(path: string): string | undefined {
  try {
    return realpathSync(systemPath(path), { encoding: NAME_ENCODING });
  } catch {
    return undefined;
  }
}

function readLine(path: string, pattern: RegExp): string | undefined {
  try {
    return pattern.exec(readFileSync(systemPath(path), "latin1").trim())?.[1]?.trim();
  } catch {
    return undefined;
  }
}

function resolved(folder: string, path: string): string {
  return path.startsWith("/") ? join(path) : join(folder, path);
}

function isFolder(path: string): boolean {
  return lstatSync(systemPath(path), { throwIfNoEntry: false })?.isDirectory() === true;
}
