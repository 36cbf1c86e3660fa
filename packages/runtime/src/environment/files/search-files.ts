import { basename } from "node:path/posix";
import { type GlobEntry, type GlobOptions, type GrepMatch, type GrepOptions, VfsError } from "@keelson/protocol";
import { hasFileType } from "./file-type.ts";
import { compileTextSearch } from "./grep-text.ts";
import type { SearchableFiles, WalkedEntry, WalkPlan } from "./searchable-files.ts";
import { compileFileFilter, compileSearchGlob } from "./search-glob.ts";
import { createUnignored, walkUnignored } from "./unignored.ts";
import { pathBelow } from "./virtual-path.ts";

/** Matches below `start` in the order of paths and lines, at most `maxMatches` of them. */
export async function grepFiles(
  files: SearchableFiles,
  start: string,
  pattern: string,
  options: GrepOptions,
  signal?: AbortSignal,
): Promise<GrepMatch[]> {
  signal?.throwIfAborted();
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
  const wanted = (relativePath: string): boolean =>
    glob?.matches(relativePath, false) !== false && (fileType === undefined || hasFileType(relativePath, fileType));
  for await (const { path, read } of filesToSearch(files, { start, pattern, options, wanted, signal })) {
    if (matches.length >= maxMatches) break;
    const bytes = await read(signal).catch((error: unknown) => {
      if (!VfsError.is(error)) throw error;
      return undefined; // unreadable, too large, or gone meanwhile
    });
    if (bytes !== undefined) add(search(path, bytes));
  }
  return matches;
}

interface ContentSearch {
  readonly start: string;
  readonly pattern: string;
  readonly options: GrepOptions;
  /** Whether a file is searched at all, by its path below the start. */
  wanted(relativePath: string): boolean;
  readonly signal: AbortSignal | undefined;
}

/** In the order of paths. */
async function* filesToSearch(files: SearchableFiles, search: ContentSearch): AsyncGenerator<WalkedEntry> {
  const { start, options, wanted, signal } = search;
  const leaveOut = new Set(options.leaveOut);
  const hinted = await hintedFiles(files, search);
  const onTheWay = hinted && foldersAbove(hinted);
  const isSearched = (relativePath: string): boolean => hinted?.has(relativePath) !== false && wanted(relativePath);
  const plan: WalkPlan = {
    enter: (relativePath) => onTheWay?.has(relativePath) !== false && !leaveOut.has(basename(relativePath)),
    reads: isSearched,
  };
  const walk = options.gitignore ? walkUnignored(files, start, plan, signal) : files.walk(start, plan, signal);
  for await (const entry of walk) if (entry.isFile && isSearched(entry.relativePath)) yield entry;
}

/** Those below the start that may hold a match, by their paths from there; `undefined` when that is not known. */
async function hintedFiles(
  files: SearchableFiles,
  { start, pattern, options, signal }: ContentSearch,
): Promise<ReadonlySet<string> | undefined> {
  if (files.mayMatch === undefined) return undefined;
  const leftOut: string[] = [];
  if (options.gitignore) {
    const unignored = createUnignored(files, start, signal);
    for await (const { path, relativePath, isDir } of files.walk(start, { enter: () => false }, signal))
      if (isDir && !(await unignored.holds(path, isDir))) leftOut.push(relativePath);
  }
  const paths = await files.mayMatch(start, { pattern, options, leftOut, signal });
  return paths && new Set(paths.map((path) => pathBelow(start, path)));
}

function foldersAbove(paths: Iterable<string>): Set<string> {
  const folders = new Set<string>();
  for (const path of paths)
    for (let end = path.lastIndexOf("/"); end > 0 && !folders.has(path.slice(0, end)); end = path.lastIndexOf("/", end - 1))
      folders.add(path.slice(0, end));
  return folders;
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
