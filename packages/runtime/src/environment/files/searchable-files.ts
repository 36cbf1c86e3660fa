import type { GrepOptions } from "@keelson/protocol";

export interface WalkedEntry {
  readonly path: string;
  /** From where the walk started. */
  readonly relativePath: string;
  readonly isDir: boolean;
  /** False for folders, links and what else is no file. */
  readonly isFile: boolean;
  /** Of a file that the walk was to measure, unless it went meanwhile. */
  readonly size?: number;
  /** The content of a file, until the walk goes on. */
  read(signal?: AbortSignal): Promise<Uint8Array>;
}

export interface WalkPlan {
  /** Whether a folder is walked. */
  enter(relativePath: string): boolean;
  /** Whether the size of a file is told. */
  measures?(relativePath: string): boolean;
  /** Whether a file is to be read, so that it may be read before it is asked for. */
  reads?(relativePath: string): boolean;
}

/** What a search needs of a file system. Paths are absolute and normalised. */
export interface SearchableFiles {
  /** Rejects with `not-found`. */
  isFolder(path: string): Promise<boolean>;
  /** Every entry below the folder `start`, depth first, names in ascending order. */
  walk(start: string, plan: WalkPlan, signal?: AbortSignal): AsyncIterable<WalkedEntry>;
  read(path: string, signal?: AbortSignal): Promise<Uint8Array>;
  readonly root: string;
  /** Files below a folder among which are all that hold a match, by some faster way; `undefined` when there is none. */
  mayMatch?(folder: string, search: HintedSearch): Promise<readonly string[] | undefined>;
}

export interface HintedSearch {
  readonly pattern: string;
  readonly options: GrepOptions;
  /** Names in the folder that need not be looked into. */
  readonly leftOut: readonly string[];
  readonly signal: AbortSignal | undefined;
}
