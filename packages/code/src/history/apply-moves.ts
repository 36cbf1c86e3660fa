import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { setImmediate } from "node:timers/promises";
import type { ReadyMove } from "./check-moves.ts";
import type { FileState } from "./file-state.ts";
import { sameStamp, stampOf } from "./file-stamp.ts";
import type { LeftMove, LeftReason, Move } from "./journal-record.ts";
import { hasRealFolder, type MatchOptions, matchState, statBelow } from "./match-state.ts";
import { folderOf, systemPath } from "./system-path.ts";

export interface ApplyOptions extends MatchOptions {
  /** Names the undo: its drafts are found by it after a crash. */
  readonly id: string;
  /** Makes a file with the content of a state. @returns false if the content is missing or damaged */
  copyTo(state: FileState, path: string): boolean;
  /** A name of each file with several names, by the inode that it had. Files that come back are added. */
  readonly names: Map<number, string>;
  restoreObject(key: string, path: string): boolean;
  /** Called before a file with several names is written in place, which a crash may cut in the middle. */
  onRewrite(path: string): void;
}

/** With more files the disk is left to write them when it likes. */
const MOST_SYNCED = 300;
const MOVES_AT_ONCE = 100;

/** Makes moves. The order makes room first: files go, then folders; folders come, then files; permissions of folders are set last. */
export async function applyMoves(
  moves: readonly ReadyMove[],
  options: ApplyOptions,
): Promise<{ readonly done: readonly Move[]; readonly left: readonly LeftMove[] }> {
  const left = new Map<Move, LeftReason>();
  const isSynced = moves.length <= MOST_SYNCED;
  let count = 0;
  const each = async (chosen: readonly ReadyMove[], act: (move: ReadyMove) => LeftReason | undefined): Promise<void> => {
    for (const move of chosen) {
      if (left.has(move)) continue;
      const reason = attempt(() => act(move));
      if (reason !== undefined) left.set(move, reason);
      if (++count % MOVES_AT_ONCE === 0) await setImmediate();
    }
  };
  const deepestFirst = moves.toSorted((a, b) => depth(b.path) - depth(a.path));
  const shallowFirst = deepestFirst.toReversed();
  await each(
    deepestFirst.filter(({ from, to }) => from !== undefined && from.type !== "folder" && goes(from, to)),
    (move) => (isUnchanged(move, options) ? void unlinkSync(systemPath(move.path)) : "changed"),
  );
  await each(
    deepestFirst.filter(({ from, to }) => from?.type === "folder" && goes(from, to)),
    ({ path }) => removeFolder(path),
  );
  await each(
    shallowFirst.filter(({ from, to }) => to?.type === "folder" && from?.type !== "folder"),
    ({ path }) => makeFolder(path, options.tops),
  );
  const numbers = new Map(moves.map((move, index) => [move, index]));
  await each(
    moves.filter(({ to }) => to?.type === "file" || to?.type === "link" || to?.type === "object"),
    (move) => makeFile(move, draftOf(move.path, options.id, numbers.get(move) ?? 0), { ...options, isSynced }),
  );
  await each(
    deepestFirst.filter(({ to }) => to?.type === "folder"),
    ({ path, to }) => void (to?.type === "folder" && hasRealFolder(path, options.tops) && chmodSync(systemPath(path), to.mode)),
  );
  return {
    done: moves.filter((move) => !left.has(move)).map(({ path, from, to }) => ({ path, from, to })),
    left: Array.from(left, ([{ path, from, to }, reason]) => ({ path, from, to, reason })),
  };
}

/** Removes the drafts that an undo left behind when its process was killed. Where a folder was to come back there may still be a file, and no draft. */
export function removeDrafts(moves: readonly Move[], id: string, tops: readonly string[]): void {
  for (const [index, { path }] of moves.entries())
    if (hasRealFolder(path, tops)) rmSync(systemPath(draftOf(path, id, index)), { force: true });
}

function draftOf(path: string, id: string, index: number): string {
  return `${folderOf(path)}/.keelson-undo-${id}-${index}`;
}

/** True if the entry must be removed: nothing, or another kind of entry, takes its place. */
function goes(from: FileState, to: FileState | undefined): boolean {
  const isFile = (state: FileState): boolean => state.type === "file" || state.type === "unkept";
  return to === undefined || (from.type !== to.type && !(isFile(from) && isFile(to)));
}

function removeFolder(path: string): LeftReason | undefined {
  try {
    rmdirSync(systemPath(path));
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    if (code === "ENOTEMPTY" || code === "EEXIST") return "not-empty";
    throw error;
  }
}

function makeFolder(path: string, tops: readonly string[]): LeftReason | undefined {
  if (!hasRealFolder(path, tops)) return "changed";
  try {
    mkdirSync(systemPath(path), { mode: 0o700 });
    giveToOwner(path, folderOf(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    if (statBelow(path, tops)?.isDirectory() !== true) return "changed";
  }
  return undefined;
}

function makeFile(move: ReadyMove, draft: string, options: ApplyOptions & { readonly isSynced: boolean }): LeftReason | undefined {
  const { path, from, to } = move;
  if (to?.type === "object") return options.restoreObject(to.key, path) ? undefined : "not-kept";
  if (!hasRealFolder(path, options.tops)) return "changed";
  if (isDone(move, options)) return undefined;
  if (to?.type === "file" && from?.type === "file" && from.digest === to.digest) {
    if (!isUnchanged(move, options)) return "changed";
    return void chmodSync(systemPath(path), to.mode);
  }
  const current = from === undefined || goes(from, to) ? undefined : statBelow(path, options.tops);
  const inode = to?.type === "file" ? to.inode : undefined;
  // The other names had this content as well.
  if (current !== undefined && current.nlink > 1 && current.ino === inode && to?.type === "file") return rewrite(move, to, options);
  try {
    if (to?.type === "file" && linkTo(to, draft, options)) return place(move, draft, current !== undefined, options);
    if (to?.type === "link") symlinkSync(systemPath(to.target), systemPath(draft));
    else if (to === undefined || !options.copyTo(to, draft)) return "not-kept";
    if (to.type === "file") finishDraft(draft, to.mode, current === undefined ? folderOf(path) : path, options.isSynced);
    const reason = place(move, draft, current !== undefined, options);
    if (reason === undefined && inode !== undefined) options.names.set(inode, path);
    return reason;
  } finally {
    rmSync(systemPath(draft), { force: true });
  }
}

/** Makes a draft another name of the file that it was a name of, if one of its names has that content now. */
function linkTo(to: FileState & { readonly type: "file" }, draft: string, options: ApplyOptions): boolean {
  const other = to.inode === undefined ? undefined : options.names.get(to.inode);
  if (other === undefined || !matchState(other, to, options).isMatch) return false;
  linkSync(systemPath(other), systemPath(draft));
  return true;
}

/** Puts a draft in its place. A file that came there meanwhile is never replaced. */
function place(move: ReadyMove, draft: string, replaces: boolean, options: ApplyOptions): LeftReason | undefined {
  const { path, to } = move;
  if (replaces) {
    if (!isUnchanged(move, options)) return "changed";
    renameSync(systemPath(draft), systemPath(path));
    return undefined;
  }
  if (statBelow(path, options.tops) !== undefined) return "changed";
  try {
    // A hard link fails if there is something, unlike a rename.
    if (to?.type === "file") linkSync(systemPath(draft), systemPath(path));
    else renameSync(systemPath(draft), systemPath(path));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return "changed";
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP" && code !== "EMLINK") throw error;
    renameSync(systemPath(draft), systemPath(path));
  }
  return undefined;
}

/** Writes a file in place, so that its other names keep the same file. */
function rewrite(move: ReadyMove, to: FileState & { readonly type: "file" }, options: ApplyOptions): LeftReason | undefined {
  const bytes = options.bytesOf(to);
  if (bytes === undefined) return "not-kept";
  if (!isUnchanged(move, options)) return "changed";
  options.onRewrite(move.path);
  const at = systemPath(move.path);
  chmodSync(at, to.mode | 0o200);
  const file = openSync(at, constants.O_WRONLY | constants.O_NOFOLLOW);
  try {
    for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written, bytes.length - written, written);
    ftruncateSync(file, bytes.length);
    fchmodSync(file, to.mode);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return undefined;
}

function finishDraft(draft: string, mode: number, likeOwnerOf: string, isSynced: boolean): void {
  giveToOwner(draft, likeOwnerOf);
  const file = openSync(systemPath(draft), constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    // After the owner, which clears some bits.
    fchmodSync(file, mode);
    if (isSynced) fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Only root may give files away. Others keep them as their own. */
function giveToOwner(path: string, like: string): void {
  if (process.geteuid?.() !== 0) return;
  const { uid, gid } = lstatSync(systemPath(like));
  chownSync(systemPath(path), uid, gid);
}

/** True if a path is in the state that it moves from. A changed stamp alone says little: another name of the same file was removed, say. */
function isUnchanged({ path, from, stamp }: ReadyMove, options: ApplyOptions): boolean {
  const stats = statBelow(path, options.tops);
  if (stats === undefined || stamp === undefined) return stats === undefined && stamp === undefined;
  return sameStamp(stampOf(stats), stamp) || matchState(path, from, options).isMatch;
}

/** True if a path has the state already that it moves to, because it is another name of a file that was written in place. */
function isDone({ path, to, stamp }: ReadyMove, options: ApplyOptions): boolean {
  const stats = statBelow(path, options.tops);
  return (
    stats !== undefined &&
    stats.nlink > 1 &&
    stamp !== undefined &&
    !sameStamp(stampOf(stats), stamp) &&
    matchState(path, to, options).isMatch
  );
}

function attempt(act: () => LeftReason | undefined): LeftReason | undefined {
  try {
    return act();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return "blocked";
  }
}

function depth(path: string): number {
  let count = 0;
  for (const character of path) if (character === "/") count++;
  return count;
}
