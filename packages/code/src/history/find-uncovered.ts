import { lstatSync, readdirSync, type Stats } from "node:fs";
import { countFiles, shownCount } from "./count-files.ts";
import type { DestroyedPattern } from "./destroyed-pattern.ts";
import { sameStamp, stampOf } from "./file-stamp.ts";
import type { HistoryLimits } from "./history-limits.ts";
import { shownBytes, skipReason, unkeptReason } from "./history-note.ts";
import { folderOf, isWithin, NAME_ENCODING, systemPath } from "./system-path.ts";
import type { IndexEntry, TreeIndex } from "./tree-index.ts";

/** A file or folder that undo cannot bring back. */
export interface Uncovered {
  /** A path for `systemPath`. */
  readonly path: string;
  /** Its size, or the number of its files. */
  readonly what: string;
  /** The reason, with a remedy. */
  readonly reason: string;
}

export interface CoverageFacts {
  /** The tops of all covered folders. */
  readonly tops: readonly string[];
  readonly limits: HistoryLimits;
  /** Folders that are never covered: that of Keelson. */
  readonly excluded: readonly string[];
}

/** `isIgnored`: git changes it only with an option for that. */
type Found = Uncovered & { readonly isIgnored: boolean };

const OUTSIDE = "it is outside of the folders that undo covers";
const OWN = "it holds the sessions of Keelson and the history itself";
const IN_FILLED = "git ignores it, in a folder of dependencies or build results";
const SPECIAL = "it is a pipe, socket or device";

/** Finds out what of the files that a command may destroy is not covered. The index must be that of a snapshot that was just taken. */
export function findUncovered(index: TreeIndex, destroyed: readonly DestroyedPattern[], facts: CoverageFacts): readonly Uncovered[] {
  const found = new Map<string, Uncovered>();
  const gaps = destroyed.some(({ isTree }) => isTree) ? gapsIn(index) : [];
  for (const pattern of destroyed)
    for (const { isIgnored, ...uncovered } of pattern.isTree ? inTree(index, gaps, pattern, facts) : atFile(index, pattern.path, facts))
      if (!(isIgnored && pattern.sparesIgnored)) found.set(uncovered.path, uncovered);
  // Files in a folder that is listed are not listed again.
  return [...found.values()].filter(({ path }) => {
    for (let folder = folderOf(path); folder !== ""; folder = folderOf(folder)) if (found.has(folder)) return false;
    return true;
  });
}

/** True if a path is in a folder that is covered. */
export function isInCovered(path: string, { tops, excluded }: CoverageFacts, externals: readonly string[]): boolean {
  return [...tops, ...externals].some((top) => isWithin(path, top)) && !excluded.some((folder) => isWithin(path, folder));
}

/** True if the content of a file was kept by the last snapshot, and has not changed since. */
export function isKnown(index: TreeIndex, { path, isTree }: DestroyedPattern): boolean {
  const entry = isTree ? undefined : index.entries.get(path);
  if (entry?.stamp === undefined || (entry.state.type !== "file" && entry.state.type !== "link")) return false;
  const stats = statOf(path);
  return stats !== undefined && sameStamp(stampOf(stats), entry.stamp);
}

function atFile(index: TreeIndex, path: string, facts: CoverageFacts): readonly Found[] {
  const stats = statOf(path);
  if (stats === undefined || stats.isDirectory()) return [];
  const found = (reason: string, isIgnored: boolean): readonly Found[] => [{ path, what: sizeOf(stats), reason, isIgnored }];
  if (facts.excluded.some((folder) => isWithin(path, folder))) return found(OWN, false);
  if (!isInCovered(path, facts, index.externals)) return found(OUTSIDE, false);
  const state = index.entries.get(path)?.state;
  if (state?.type === "unkept") return found(unkeptReason(state.reason, facts.limits), state.reason === "ignored");
  if (state?.type === "other") return found(SPECIAL, false);
  if (state !== undefined && state.type !== "skipped") return [];
  if (index.objectFolders.some((folder) => isWithin(path, folder)))
    return index.objects.get(path)?.key === undefined && index.objects.has(path)
      ? found(unkeptReason("other-disk", facts.limits), false)
      : [];
  const [, above] = nearest(index, folderOf(path));
  if (above === undefined) return found(OUTSIDE, false);
  if (above.state.type === "skipped") return found(skipReason(above.state.reason), isIgnoredReason(above.state.reason));
  // A file in a folder that is wholly covered appeared since, or belongs to a running program.
  return above.isPartial === true ? found(IN_FILLED, true) : [];
}

/** Returns the entries that are not covered, or have others that are not. */
function gapsIn({ entries, objectFolders }: TreeIndex): readonly (readonly [path: string, entry: IndexEntry])[] {
  return Array.from(entries).filter(
    ([path, { state, isPartial }]) =>
      ["skipped", "unkept", "other"].includes(state.type) ||
      (isPartial === true && !objectFolders.some((folder) => isWithin(path, folder))),
  );
}

function inTree(index: TreeIndex, gaps: ReturnType<typeof gapsIn>, pattern: DestroyedPattern, facts: CoverageFacts): readonly Found[] {
  const { path: base } = pattern;
  const { excluded, limits } = facts;
  if (statOf(base)?.isDirectory() !== true) return [];
  const tree = (path: string, reason: string, isIgnored: boolean): readonly Found[] => {
    const stats = statOf(path);
    if (stats === undefined) return [];
    if (!stats.isDirectory()) return pattern.matches(path) ? [{ path, what: sizeOf(stats), reason, isIgnored }] : [];
    const counted = countFiles(path, (below) => pattern.matches(below));
    return counted.files === 0 && counted.isAll ? [] : [{ path, what: shownCount(counted), reason, isIgnored }];
  };
  if (excluded.some((folder) => isWithin(base, folder))) return tree(base, OWN, false);
  if (!isInCovered(base, facts, index.externals)) return tree(base, OUTSIDE, false);
  const [at, above] = nearest(index, base);
  if (above === undefined) return tree(base, OUTSIDE, false);
  if (above.state.type === "skipped") return tree(base, skipReason(above.state.reason), isIgnoredReason(above.state.reason));
  const isObjects = (path: string): boolean => index.objectFolders.some((folder) => isWithin(path, folder));
  if (at !== base && !isObjects(base)) return above.isPartial === true ? tree(base, IN_FILLED, true) : [];
  const found: Found[] = excluded.filter((folder) => isWithin(folder, base)).flatMap((folder) => tree(folder, OWN, false));
  for (const [path, { state }] of gaps) {
    if (!isWithin(path, base)) continue;
    if (state.type === "skipped") found.push(...tree(path, skipReason(state.reason), isIgnoredReason(state.reason)));
    else if (state.type === "unkept") found.push(...tree(path, unkeptReason(state.reason, limits), state.reason === "ignored"));
    else if (state.type === "other") found.push(...tree(path, SPECIAL, true));
    else
      for (const name of namesIn(path)) {
        const child = `${path === "/" ? "" : path}/${name}`;
        if (!index.entries.has(child) && !isObjects(child) && !excluded.includes(child)) found.push(...tree(child, IN_FILLED, true));
      }
  }
  for (const folder of index.objectFolders) {
    const isMeant = (path: string): boolean => isWithin(path, folder) && isWithin(path, base) && pattern.matches(path);
    const isLost = Array.from(index.objects).some(([path, { key }]) => key === undefined && isMeant(path));
    if (isLost) found.push({ path: folder, what: "objects of git", reason: unkeptReason("other-disk", limits), isIgnored: false });
  }
  return found;
}

/** Returns the entry of a path, or that of the nearest folder above it. */
function nearest(index: TreeIndex, path: string): readonly [path: string, entry: IndexEntry | undefined] {
  for (let at = path; at !== ""; at = folderOf(at)) {
    const entry = index.entries.get(at);
    if (entry !== undefined) return [at, entry];
  }
  return ["/", index.entries.get("/")];
}

function isIgnoredReason(reason: "dependencies" | "build" | "unreadable" | "too-many"): boolean {
  return reason === "dependencies" || reason === "build";
}

function sizeOf(stats: Stats): string {
  return stats.isFile() ? shownBytes(stats.size) : stats.isSymbolicLink() ? "a link" : "no file";
}

/** Returns the facts about a path; `undefined` if nothing is there, or the system does not give them. */
export function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(systemPath(path), { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(systemPath(folder), { encoding: NAME_ENCODING });
  } catch {
    return [];
  }
}
