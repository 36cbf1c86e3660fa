import type { LineFilter } from "./line-filter.ts";

export interface ListedEntry {
  readonly name: string;
  /** `other` for links and for what is neither a file nor a folder. */
  readonly kind: "file" | "folder" | "other";
}

/** A folder that a search has opened. On a disk it stays this folder, whatever is put at its path meanwhile. */
export interface SearchFolder {
  /** Absolute. */
  readonly path: string;
  /** The entries, in ascending order of names. */
  readonly entries: readonly ListedEntry[];
  /** Opens a folder in it. Throws `VfsError`. */
  open(name: string): SearchFolder | Promise<SearchFolder>;
  /**
   * Returns the content of a file, which is valid until the next call. Throws `VfsError`.
   * @returns `"large"` if the file is to be read by `pieces` or `readWhole`
   */
  read(name: string, signal?: AbortSignal): FileBytes | Promise<FileBytes>;
  /** Returns the content of a large file. Rejects with `resource-limit` if it is larger than a file that is read whole. */
  readWhole(name: string, signal?: AbortSignal): Promise<Uint8Array>;
  /** Returns a large file piece by piece. Each piece is valid until the next. Rejects with `resource-limit` beyond `maxBytes`. */
  pieces(name: string, maxBytes: number, signal?: AbortSignal): AsyncIterable<Uint8Array>;
  /** Returns the size of a file; `undefined` if it is gone. */
  sizeOf(name: string): number | undefined | Promise<number | undefined>;
  close(): void;
}

export type FileBytes = Uint8Array | "large";

/** The operations of a file system that a search uses. Paths are absolute and normalised. */
export interface SearchableFiles {
  /** Returns the root that holds a path. */
  rootOf(path: string): string;
  /** Rejects with `not-found`. */
  isFolder(path: string): Promise<boolean>;
  openFolder(path: string): SearchFolder | Promise<SearchFolder>;
  /** False for a path that the policy hides. Absent: nothing is hidden. */
  isShown?(path: string): boolean;
  /**
   * Reads a file of git outside of the root: the index and the ignore rules of a repository that the root is a part of.
   * `undefined` if there is none. Absent: nothing outside is read.
   */
  readOutside?(path: string): Uint8Array | undefined;
  /** Returns the filter that finds the texts which may match; `undefined` if there is none. */
  lineFilter?(): Promise<LineFilter | undefined>;
}
