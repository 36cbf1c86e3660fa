import { lstatSync, readlinkSync, type Stats } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { compareTrees } from "./compare-trees.ts";
import { type Change, type FileState, MODE_BITS } from "./file-state.ts";
import { type FileStamp, isUnsettled, sameStamp, stampOf, stampText } from "./file-stamp.ts";
import type { GitObjects } from "./git-objects.ts";
import type { HistoryLimits } from "./history-limits.ts";
import type { HistoryNote } from "./history-note.ts";
import type { ImageStore } from "./image-store.ts";
import type { SeenEntry, TreeScanner } from "./scan-tree.ts";
import { statBelow } from "./match-state.ts";
import { isGone, NAME_ENCODING, systemPath } from "./system-path.ts";
import type { IndexEntry, TreeIndex } from "./tree-index.ts";

/** The parts of a history that a snapshot uses. */
export interface SnapshotParts {
  readonly root: string;
  /** The tops of all covered folders. */
  readonly tops: readonly string[];
  /** Folders that are never read: that of the history itself. */
  readonly excluded: readonly string[];
  readonly scanner: TreeScanner;
  readonly images: ImageStore;
  /** Keeps the content of files whose names say that they hold secrets. */
  readonly secretImages: ImageStore;
  readonly objects: GitObjects;
  readonly limits: HistoryLimits;
  isSecret(path: string): boolean;
  now(): number;
}

/** The result of a snapshot. */
export interface Snapshot {
  readonly index: TreeIndex;
  /** The changes since the snapshot before; none if it is the first one. */
  readonly changes: readonly Change[];
  readonly notes: readonly HistoryNote[];
  /** True if the index holds more than the one before. */
  readonly isChanged: boolean;
}

interface Unread {
  readonly path: string;
  readonly stamp: FileStamp;
}

const BYTES_AT_ONCE = 4 * 1024 * 1024;
const FILES_AT_ONCE = 200;

/**
 * Takes a snapshot of a project: keeps the content of covered files whose stamp has changed since the snapshot before.
 * @param options.isSticky entries that were covered stay covered, so that a command that changes the ignore rules deletes or creates nothing by that
 */
export async function takeSnapshot(
  parts: SnapshotParts,
  before: TreeIndex | undefined,
  { isSticky }: { readonly isSticky: boolean },
): Promise<Snapshot> {
  const now = parts.now();
  const seen = await parts.scanner.scan(before?.externals ?? []);
  if (isSticky && before !== undefined) stickTo(seen.entries, before, [...parts.tops, ...seen.externals]);
  const entries = new Map<string, IndexEntry>();
  const unread: Unread[] = [];
  let keptBytes = 0;
  for (const [path, entry] of seen.entries) {
    const known = before?.entries.get(path);
    const found = settledEntry(path, entry, known, isSticky);
    if (found === undefined) {
      if (entry.kind === "file") unread.push({ path, stamp: entry.stamp });
      continue;
    }
    if (found.state.type === "file") keptBytes += found.state.size;
    entries.set(path, found);
  }
  // Small files come first, so that a bound leaves out as few as possible.
  unread.sort((a, b) => a.stamp.size - b.stamp.size);
  let bytes = 0;
  let files = 0;
  for (const { path, stamp } of unread) {
    const state = readFile(parts, path, stamp, parts.limits.treeBytes - keptBytes);
    if (state === undefined) continue;
    if (state.type === "file") keptBytes += state.size;
    entries.set(path, { stamp, state, isUnsettled: isUnsettled(stamp, now) });
    bytes += stamp.size;
    files++;
    if (bytes < BYTES_AT_ONCE && files < FILES_AT_ONCE) continue;
    bytes = files = 0;
    await setImmediate();
  }
  const { objects, folders } = await parts.objects.update(seen.objectFolders, before?.objects ?? new Map());
  for (const [path, stamp] of folders)
    entries.set(path, { stamp, state: { type: "folder", mode: stamp.mode & MODE_BITS }, isPartial: true });
  const index: TreeIndex = { entries, objects, objectFolders: seen.objectFolders, externals: seen.externals };
  const compared = compareTrees(before, index, parts.root, parts.limits);
  const isSameSize = before !== undefined && before.entries.size === entries.size && before.objects.size === objects.size;
  const isChanged = !isSameSize || unread.length > 0 || compared.changes.length > 0 || before.externals.length !== index.externals.length;
  return { index, ...compared, isChanged };
}

/** Reads the state of one path, and keeps its content. */
export function readState(parts: SnapshotParts, path: string): FileState | undefined {
  return readEntry(parts, path)?.state;
}

/** The same with the stamp, as an entry of an index. */
export function readEntry(parts: SnapshotParts, path: string): IndexEntry | undefined {
  const stats = lstat(path);
  if (stats === undefined) return undefined;
  const stamp = stampOf(stats);
  if (stats.isDirectory()) return { stamp, state: { type: "folder", mode: stamp.mode & MODE_BITS } };
  if (stats.isSymbolicLink()) return linkEntry(path, stamp);
  if (!stats.isFile()) return { stamp, state: { type: "other" } };
  const state = readFile(parts, path, stamp, Number.POSITIVE_INFINITY);
  return state && { stamp, state, isUnsettled: isUnsettled(stamp, parts.now()) };
}

/** Adds the entries that were covered before and are left out now although they are still there. */
function stickTo(seen: Map<string, SeenEntry>, before: TreeIndex, tops: readonly string[]): void {
  for (const [path, { state }] of before.entries) {
    const entry = seen.get(path);
    if (
      state.type === "skipped" ||
      before.objects.has(path) ||
      (entry !== undefined && !(entry.kind === "skipped" && state.type === "folder"))
    )
      continue;
    const stats = statBelow(path, tops);
    if (stats === undefined) continue;
    const stamp = stampOf(stats);
    if (stats.isDirectory()) seen.set(path, { kind: "folder", stamp, isPartial: true });
    else seen.set(path, { kind: stats.isSymbolicLink() ? "link" : stats.isFile() ? "file" : "other", stamp });
  }
}

/** Returns the entry of an index for what a scan has seen; `undefined` if the file must be read. */
function settledEntry(path: string, entry: SeenEntry, known: IndexEntry | undefined, isSticky: boolean): IndexEntry | undefined {
  if (entry.kind === "skipped") return { state: { type: "skipped", reason: entry.reason } };
  const { stamp } = entry;
  if (entry.kind === "folder")
    return { stamp, state: { type: "folder", mode: stamp.mode & MODE_BITS }, ...(entry.isPartial && { isPartial: true }) };
  if (entry.kind === "other") return { stamp, state: { type: "other" } };
  const isSame = known?.stamp !== undefined && sameStamp(known.stamp, stamp) && known.isUnsettled !== true;
  if (entry.kind === "link") return isSame && known.state.type === "link" ? known : linkEntry(path, stamp);
  if (isSame && known.state.type === "file") return known;
  if (entry.isTooLarge === true && !(isSticky && known?.state.type === "file"))
    return { stamp, state: { type: "unkept", mode: stamp.mode & MODE_BITS, size: stamp.size, stamp: stampText(stamp), reason: "ignored" } };
  return undefined;
}

function linkEntry(path: string, stamp: FileStamp): IndexEntry | undefined {
  try {
    return { stamp, state: { type: "link", target: readlinkSync(systemPath(path), { encoding: NAME_ENCODING }) } };
  } catch {
    return undefined;
  }
}

function readFile(parts: SnapshotParts, path: string, stamp: FileStamp, space: number): FileState | undefined {
  const mode = stamp.mode & MODE_BITS;
  const unkept = { type: "unkept", mode, size: stamp.size, stamp: stampText(stamp) } as const;
  if (stamp.size > parts.limits.fileBytes) return { ...unkept, reason: "too-large" };
  if (stamp.size > space) return { ...unkept, reason: "no-space" };
  const isSecret = parts.isSecret(path);
  try {
    const { digest, size, inode } = (isSecret ? parts.secretImages : parts.images).keep(path, parts.limits.fileBytes);
    return { type: "file", mode, size, digest, ...(isSecret && { secret: true }), ...(inode !== undefined && { inode }) };
  } catch (error) {
    if (isGone(error) || (error as NodeJS.ErrnoException).code === "ELOOP") return undefined;
    if (error instanceof RangeError) return { ...unkept, reason: "too-large" };
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOSPC" || code === "EDQUOT") return { ...unkept, reason: "no-space" };
    return { ...unkept, reason: "unreadable" };
  }
}

function lstat(path: string): Stats | undefined {
  try {
    return lstatSync(systemPath(path), { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
