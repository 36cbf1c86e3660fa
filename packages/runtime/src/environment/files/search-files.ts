import { type GlobEntry, type GlobOptions, type GrepMatch, type GrepOptions, VfsError } from "@keelson/protocol";
import { hasFileType } from "./file-type.ts";
import { compileTextSearch } from "./grep-text.ts";
import type { SearchableFiles } from "./searchable-files.ts";
import { compileFileFilter, compileSearchGlob } from "./search-glob.ts";
import { createUnignored, walkUnignored } from "./unignored.ts";
import { comparePaths, pathBelow } from "./virtual-path.ts";

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
  for await (const { path, read } of filesToSearch(files, start, pattern, options, signal)) {
    if (matches.length >= maxMatches) break;
    if (glob?.matches(pathBelow(start, path), false) === false || (fileType !== undefined && !hasFileType(path, fileType))) continue;
    const bytes = await read(signal).catch((error: unknown) => {
      if (!VfsError.is(error)) throw error;
      return undefined; // unreadable, too large, or gone meanwhile
    });
    if (bytes !== undefined) add(search(path, bytes));
  }
  return matches;
}

interface FileToSearch {
  readonly path: string;
  /** Until the next one is asked for. */
  read(signal?: AbortSignal): Promise<Uint8Array>;
}

/** In the order of paths. */
async function* filesToSearch(
  files: SearchableFiles,
  start: string,
  pattern: string,
  options: GrepOptions,
  signal?: AbortSignal,
): AsyncGenerator<FileToSearch> {
  const unignored = options.gitignore ? createUnignored(files, start, signal) : undefined;
  const leftOut: string[] = [];
  if (unignored !== undefined && files.mayMatch !== undefined)
    for await (const { path, relativePath, isDir } of files.walk(start, { enter: () => false }, signal))
      if (isDir && !(await unignored.holds(path, isDir))) leftOut.push(relativePath);
  const hinted = await files.mayMatch?.(start, { pattern, options, leftOut, signal });
  if (hinted === undefined) {
    const plan = { enter: () => true };
    const walk = options.gitignore ? walkUnignored(files, start, plan, signal) : files.walk(start, plan, signal);
    for await (const entry of walk) if (entry.isFile) yield entry;
    return;
  }
  for (const path of hinted.toSorted(comparePaths)) {
    signal?.throwIfAborted();
    if (unignored === undefined || (await unignored.holds(path, false))) yield { path, read: (stop) => files.read(path, stop) };
  }
}

/** Entries below `start` that match, in the order of paths, at most `limit` of them. */
export async function globFiles(
  files: SearchableFiles,
  start: string,
  pattern: string,
  { limit = Number.POSITIVE_INFINITY, gitignore = false, signal }: GlobOptions,
): Promise<GlobEntry[]> {
  const compiled = compileSearchGlob(pattern);
  const results: GlobEntry[] = [];
  if (limit <= 0) return results;
  const plan = { enter: compiled.mayMatchBelow, measures: (path: string) => compiled.matches(path, false) };
  const walk = gitignore ? walkUnignored(files, start, plan, signal) : files.walk(start, plan, signal);
  for await (const { path, relativePath, isDir, size } of walk) {
    if (!compiled.matches(relativePath, isDir)) continue;
    results.push({ path, isDir, ...(size !== undefined && { size }) });
    if (results.length >= limit) break;
  }
  return results;
}
