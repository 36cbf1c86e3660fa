import { lstat } from "node:fs/promises";
import { type GlobEntry, type GrepMatch, type GrepOptions, VfsError } from "@keelson/protocol";
import { hasFileType } from "./file-type.ts";
import { compileGlob, type GlobPattern } from "./glob-pattern.ts";
import { compileTextSearch } from "./grep-text.ts";
import { vfsErrorFrom } from "./vfs-error-from.ts";
import { walkDisk } from "./walk-disk.ts";

/** The options of a search below `start`, a real path. */
interface SearchPlace {
  readonly start: string;
  readonly root: string;
  readonly signal?: AbortSignal;
}

/** Matches in the order of paths and lines, at most `maxMatches` of them. `read` reads a file by its real path. */
export async function grepDisk(
  pattern: string,
  options: GrepOptions,
  { start, root, signal }: SearchPlace,
  read: (path: string) => Promise<Uint8Array>,
): Promise<GrepMatch[]> {
  const { maxMatches = Number.POSITIVE_INFINITY, fileType } = options;
  const search = compileTextSearch(pattern, options);
  // A pattern without a slash is about names, wherever they are.
  const glob =
    options.glob === undefined ? undefined : compile(options.glob.includes("/") ? options.glob.replace(/^\/+/, "") : `**/${options.glob}`);
  const matches: GrepMatch[] = [];
  const add = (found: readonly GrepMatch[]): void => {
    for (const match of found) if (matches.length < maxMatches) matches.push(match);
  };
  const info = await lstat(start).catch((error: unknown) => {
    throw vfsErrorFrom(error, start);
  });
  if (!info.isDirectory()) {
    add(search(start, await read(start)));
    return matches;
  }
  for await (const { path, relativePath, entry } of walkDisk(start, root, () => true, signal)) {
    if (matches.length >= maxMatches) break;
    if (!entry.isFile() || (glob !== undefined && !glob.matches(relativePath)) || (fileType !== undefined && !hasFileType(path, fileType)))
      continue;
    try {
      add(search(path, await read(path)));
    } catch (error) {
      if (!VfsError.is(error)) throw error; // else: unreadable, too large, or gone meanwhile
    }
  }
  return matches;
}

/** Entries that match, in the order of paths, at most `limit` of them. */
export async function globDisk(pattern: string, limit: number, { start, root, signal }: SearchPlace): Promise<GlobEntry[]> {
  const compiled = compile(pattern);
  const results: GlobEntry[] = [];
  if (limit <= 0) return results;
  for await (const { path, relativePath, entry } of walkDisk(start, root, compiled.mayMatchBelow, signal)) {
    if (!compiled.matches(relativePath)) continue;
    const stats = entry.isFile() ? await lstat(path).catch(() => undefined) : undefined; // gone meanwhile: without its size
    results.push({ path, isDir: entry.isDirectory(), ...(stats !== undefined && { size: stats.size }) });
    if (results.length >= limit) break;
  }
  return results;
}

function compile(pattern: string): GlobPattern {
  try {
    return compileGlob(pattern);
  } catch (error) {
    throw new VfsError({ kind: "other", message: (error as Error).message }, { cause: error });
  }
}
