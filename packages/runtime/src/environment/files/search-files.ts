import { type GlobEntry, type GrepMatch, type GrepOptions, VfsError } from "@keelson/protocol";
import { hasFileType } from "./file-type.ts";
import { compileTextSearch } from "./grep-text.ts";
import { compileFileFilter, compileSearchGlob } from "./search-glob.ts";

export interface WalkedEntry {
  readonly path: string;
  /** From where the walk started. */
  readonly relativePath: string;
  readonly isDir: boolean;
  /** False for folders, links and what else is no file. */
  readonly isFile: boolean;
}

/** What a search needs of a file system. Paths are absolute and normalised. */
export interface SearchableFiles {
  /** Rejects with `not-found`. */
  isFolder(path: string): Promise<boolean>;
  /** Every entry below the folder `start`, depth first, names in ascending order. `enter` decides whether a folder is walked. */
  walk(start: string, enter: (relativePath: string) => boolean, signal?: AbortSignal): AsyncIterable<WalkedEntry>;
  read(path: string, signal?: AbortSignal): Promise<Uint8Array>;
  /** `undefined` when the file is gone. */
  sizeOf(path: string): Promise<number | undefined>;
}

/** Matches below `start` in the order of paths and lines, at most `maxMatches` of them. */
export async function grepFiles(
  files: SearchableFiles,
  start: string,
  pattern: string,
  options: GrepOptions,
  signal?: AbortSignal,
): Promise<GrepMatch[]> {
  const { maxMatches = Number.POSITIVE_INFINITY, fileType } = options;
  const search = compileTextSearch(pattern, options);
  const glob = options.glob === undefined ? undefined : compileFileFilter(options.glob);
  const matches: GrepMatch[] = [];
  const add = (found: readonly GrepMatch[]): void => {
    for (const match of found) if (matches.length < maxMatches) matches.push(match);
  };
  if (!(await files.isFolder(start))) {
    add(search(start, await files.read(start, signal)));
    return matches;
  }
  for await (const { path, relativePath, isFile } of files.walk(start, () => true, signal)) {
    if (matches.length >= maxMatches) break;
    if (!isFile || (glob !== undefined && !glob.matches(relativePath, false)) || (fileType !== undefined && !hasFileType(path, fileType)))
      continue;
    try {
      add(search(path, await files.read(path, signal)));
    } catch (error) {
      if (!VfsError.is(error)) throw error; // else: unreadable, too large, or gone meanwhile
    }
  }
  return matches;
}

/** Entries below `start` that match, in the order of paths, at most `limit` of them. */
export async function globFiles(
  files: SearchableFiles,
  start: string,
  pattern: string,
  limit: number,
  signal?: AbortSignal,
): Promise<GlobEntry[]> {
  const compiled = compileSearchGlob(pattern);
  const results: GlobEntry[] = [];
  if (limit <= 0) return results;
  for await (const { path, relativePath, isDir, isFile } of files.walk(start, compiled.mayMatchBelow, signal)) {
    if (!compiled.matches(relativePath, isDir)) continue;
    const size = isFile ? await files.sizeOf(path) : undefined;
    results.push({ path, isDir, ...(size !== undefined && { size }) });
    if (results.length >= limit) break;
  }
  return results;
}
