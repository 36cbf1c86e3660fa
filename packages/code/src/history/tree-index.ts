import { readFileSync, renameSync, writeFileSync } from "node:fs";
import type { FileState } from "./file-state.ts";
import type { FileStamp } from "./file-stamp.ts";
import type { ObjectFile } from "./git-objects.ts";

/** The state of an entry as the last snapshot found it. */
export interface IndexEntry {
  readonly stamp?: FileStamp;
  readonly state: FileState;
  /** The file is read again next time, because it may have changed without another stamp. */
  readonly isUnsettled?: boolean;
  /** Not all entries of the folder are covered. */
  readonly isPartial?: boolean;
}

/** The states of all covered entries of a project. */
export interface TreeIndex {
  readonly entries: Map<string, IndexEntry>;
  readonly objects: Map<string, ObjectFile>;
  /** Folders of objects of git that the snapshot has seen. */
  readonly objectFolders: readonly string[];
  /** Folders of git outside of the tree. */
  readonly externals: readonly string[];
}

/** The index of a project without a snapshot. */
export const EMPTY_INDEX: TreeIndex = { entries: new Map(), objects: new Map(), objectFolders: [], externals: [] };

const VERSION = 1;

type Row = readonly [path: string, state: FileState, stamp: readonly number[] | 0, flags: number];

interface Stored {
  readonly version: number;
  readonly root: string;
  readonly entries: readonly Row[];
  readonly objects: readonly (readonly [path: string, size: number, key: string | 0])[];
  readonly objectFolders: readonly string[];
  readonly externals: readonly string[];
}

/** Writes the index whole or not at all. */
export function writeTreeIndex(file: string, root: string, { entries, objects, objectFolders, externals }: TreeIndex): void {
  const rows: Row[] = [];
  for (const [path, { state, stamp, isUnsettled, isPartial }] of entries) {
    const numbers = stamp === undefined ? 0 : [stamp.mode, stamp.size, stamp.mtimeMs, stamp.ctimeMs, stamp.ino];
    rows.push([path, state, numbers, (isUnsettled === true ? 1 : 0) | (isPartial === true ? 2 : 0)]);
  }
  const kept = Array.from(objects, ([path, { size, key }]): readonly [string, number, string | 0] => [path, size, key ?? 0]);
  const stored: Stored = { version: VERSION, root, entries: rows, objects: kept, objectFolders, externals };
  const draft = `${file}.${process.pid}.new`;
  writeFileSync(draft, JSON.stringify(stored), { mode: 0o600 });
  renameSync(draft, file);
}

/** Reads an index. @returns `undefined` if there is none, or one that is damaged or of another version: then the next snapshot is the first one */
export function readTreeIndex(file: string, root: string): TreeIndex | undefined {
  try {
    const stored = JSON.parse(readFileSync(file, "utf8")) as Stored;
    if (stored.version !== VERSION || stored.root !== root) return undefined;
    return {
      entries: new Map(stored.entries.map(([path, state, stamp, flags]) => [path, entryOf(state, stamp, flags)])),
      objects: new Map(stored.objects.map(([path, size, key]) => [path, { size, key: key === 0 ? undefined : key }])),
      objectFolders: stored.objectFolders,
      externals: stored.externals,
    };
  } catch {
    return undefined;
  }
}

function entryOf(state: FileState, numbers: readonly number[] | 0, flags: number): IndexEntry {
  const [mode = 0, size = 0, mtimeMs = 0, ctimeMs = 0, ino = 0] = numbers === 0 ? [] : numbers;
  return {
    state,
    ...(numbers !== 0 && { stamp: { mode, size, mtimeMs, ctimeMs, ino } }),
    isUnsettled: (flags & 1) !== 0,
    isPartial: (flags & 2) !== 0,
  };
}
