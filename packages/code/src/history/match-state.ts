import { closeSync, constants, lstatSync, openSync, readFileSync, readlinkSync, type Stats } from "node:fs";
import { type FileState, MODE_BITS } from "./file-state.ts";
import { type FileStamp, stampOf, stampText } from "./file-stamp.ts";
import { sameGitIndex } from "./git-index.ts";
import { digestOf } from "./image-store.ts";
import { folderOf, isWithin, NAME_ENCODING, nameOf, systemPath } from "./system-path.ts";

/** A path as it is on the disk, and whether that is the state that was expected. */
export interface MatchedState {
  readonly isMatch: boolean;
  /** `undefined` if nothing is there. */
  readonly stamp: FileStamp | undefined;
}

export interface MatchOptions {
  /** Folders that are taken as they are; links below them are not followed. */
  readonly tops: readonly string[];
  /** Returns the bytes of the content that a state has. */
  bytesOf(state: FileState): Buffer | undefined;
}

/** Compares what is at a path with a state. */
export function matchState(path: string, state: FileState | undefined, options: MatchOptions): MatchedState {
  const stats = statBelow(path, options.tops);
  const stamp = stats && stampOf(stats);
  if (stats === undefined || stamp === undefined || state === undefined)
    return { isMatch: stats === undefined && state === undefined, stamp };
  return { isMatch: isMatch(path, state, stats, options), stamp };
}

/** Returns what is at a path; `undefined` if nothing is there, or if one of its folders is a link. */
export function statBelow(path: string, tops: readonly string[]): Stats | undefined {
  return hasRealFolder(path, tops) ? lstat(path) : undefined;
}

/** True if all folders of a path up to one of the tops are folders and no links. */
export function hasRealFolder(path: string, tops: readonly string[]): boolean {
  const top = tops.filter((one) => isWithin(path, one)).toSorted((a, b) => b.length - a.length)[0];
  for (
    let folder = folderOf(path);
    folder !== "" && folder !== top && (top === undefined || folder.length > top.length);
    folder = folderOf(folder)
  ) {
    if (lstat(folder)?.isDirectory() !== true) return false;
  }
  return true;
}

function isMatch(path: string, state: FileState, stats: Stats, options: MatchOptions): boolean {
  const mode = stats.mode & MODE_BITS;
  switch (state.type) {
    case "folder":
      return stats.isDirectory() && mode === state.mode;
    case "link":
      return stats.isSymbolicLink() && readlinkSync(systemPath(path), { encoding: NAME_ENCODING }) === state.target;
    case "file":
      return stats.isFile() && mode === state.mode && hasContent(path, state, stats, options);
    case "unkept":
      return stats.isFile() && mode === state.mode && stampText(stampOf(stats)) === state.stamp;
    case "object":
      return stats.isFile();
    case "other":
      return !stats.isFile() && !stats.isDirectory() && !stats.isSymbolicLink();
    case "skipped":
      return false;
  }
}

function hasContent(path: string, state: FileState & { readonly type: "file" }, { size }: Stats, { bytesOf }: MatchOptions): boolean {
  try {
    if (size === state.size) {
      const file = openSync(systemPath(path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      try {
        if (digestOf(file).digest === state.digest) return true;
      } finally {
        closeSync(file);
      }
    }
    // `git status` alone writes the index again with other times.
    if (nameOf(path) !== "index") return false;
    const bytes = bytesOf(state);
    return bytes?.toString("latin1", 0, 4) === "DIRC" && sameGitIndex(bytes, readFileSync(systemPath(path)));
  } catch {
    return false;
  }
}

function lstat(path: string): Stats | undefined {
  try {
    return lstatSync(systemPath(path), { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
