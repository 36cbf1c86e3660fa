import { basename, dirname } from "node:path/posix";
import {
  type GlobEntry,
  type GlobOptions,
  type GrepMatch,
  type GrepOptions,
  type SearchOmission,
  VfsError,
  type VfsOptions,
} from "@keelson/protocol";
import { hasFileType } from "../files/file-type.ts";
import { compileFileFilter, compileSearchGlob } from "./search-glob.ts";
import { type ContentSearch, createContentSearch, wantsLineFilter } from "./content-search.ts";
import { createPauses } from "./pauses.ts";
import { omitUnreadable, type SearchPlan, walkSearch } from "./search-walk.ts";
import type { SearchableFiles, SearchFolder } from "./searchable-files.ts";
import { compileTextSearch, contextOf, TIME_OF_SEARCH } from "./text-search.ts";
import { textWindows } from "./text-windows.ts";

// The bound in a search of a folder. A file that is named is searched whatever its size.
const MAX_SEARCHED_BYTES = 1024 ** 3;
const MAX_LINE_BYTES = 64 * 1024 * 1024;

/** Returns matches below `start` in the order of paths and lines, at most `maxMatches` of them. */
export async function grepFiles(
  files: SearchableFiles,
  start: string,
  pattern: string,
  options: GrepOptions & VfsOptions,
): Promise<readonly GrepMatch[]> {
  const { signal, fileType, gitignore = false, leaveOut = [], mayRead, onOmitted: omit = ignoreOmission } = options;
  signal?.throwIfAborted();
  const search = compileTextSearch(pattern, options);
  const glob = options.glob === undefined ? undefined : compileFileFilter(options.glob);
  const pauses = createPauses();
  const lineFilter = wantsLineFilter(search, options) ? await files.lineFilter?.() : undefined;
  const content = createContentSearch(search, { ...options, pattern, lineFilter, pauses, omit });
  if (!(await files.isFolder(start))) {
    const folder = await files.openFolder(dirname(start));
    try {
      if (mayRead?.(start) === false) omit({ path: start, isDir: false, reason: "denied" });
      else await searchFile(content, { folder, name: basename(start), path: start }, options, Number.POSITIVE_INFINITY);
    } finally {
      folder.close();
    }
    await content.finish();
    return content.matches;
  }
  const plan: SearchPlan = {
    gitignore,
    leaveOut: new Set(leaveOut),
    enters: (path) => glob?.mayMatchBelow(path) !== false,
    wants: (path, isDir) => !isDir && glob?.matches(path, false) !== false && (fileType === undefined || hasFileType(path, fileType)),
    isNamed: (path) => glob?.isNamed(path) === true,
    omit,
  };
  let searched = 0;
  for await (const { path, name, kind, folder } of walkSearch(files, start, plan, { pauses, signal })) {
    if (content.isFull()) break;
    if (kind !== "file") continue;
    searched++;
    if (mayRead?.(path) === false) {
      omit({ path, isDir: false, reason: "denied" });
      continue;
    }
    try {
      await searchFile(content, { folder, name, path }, options, MAX_SEARCHED_BYTES);
    } catch (error) {
      if (!VfsError.is(error)) throw error;
      if (VfsError.is(error, "resource-limit") && error.failure.limit === TIME_OF_SEARCH) throw error;
      omitUnreadable(error, { path, isDir: false, name }, omit);
    }
  }
  await content.finish();
  if (searched === 0 && glob?.refusal !== undefined) throw glob.refusal;
  return content.matches;
}

interface FoundFile {
  readonly folder: SearchFolder;
  readonly name: string;
  readonly path: string;
}

async function searchFile(
  content: ContentSearch,
  { folder, name, path }: FoundFile,
  { signal, multiline, ...options }: GrepOptions & VfsOptions,
  maxBytes: number,
): Promise<void> {
  let bytes = await folder.read(name, signal);
  if (bytes === "large" && multiline) bytes = await folder.readWhole(name, signal);
  if (bytes !== "large") {
    await content.addFile(path, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    return;
  }
  try {
    for await (const window of textWindows(folder.pieces(name, maxBytes, signal), {
      ...contextOf(options),
      maxLineBytes: MAX_LINE_BYTES,
    })) {
      if (content.isFull() || content.isDone(path)) break;
      await content.addWindow(path, window);
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new VfsError({
      kind: "resource-limit",
      path,
      limit: "bytes of a line",
      message: `${path} was searched in part. ${error.message}`,
    });
  }
}

/** Returns entries below `start` that match, in the order of paths, at most `limit` of them. */
export async function globFiles(
  files: SearchableFiles,
  start: string,
  pattern: string,
  { limit = Number.POSITIVE_INFINITY, gitignore = false, leaveOut = [], mayRead, onOmitted: omit = ignoreOmission, signal }: GlobOptions,
): Promise<GlobEntry[]> {
  const glob = compileSearchGlob(pattern);
  const results: GlobEntry[] = [];
  if (limit <= 0) return results;
  const plan: SearchPlan = {
    gitignore,
    leaveOut: new Set(leaveOut),
    enters: glob.mayMatchBelow,
    wants: glob.matches,
    isNamed: glob.isNamed,
    omit,
  };
  for await (const { path, name, kind, folder } of walkSearch(files, start, plan, { pauses: createPauses(), signal })) {
    const isDir = kind === "folder";
    if (mayRead?.(path) === false) {
      omit({ path, isDir, reason: "denied" });
      continue;
    }
    const size = kind === "file" ? await folder.sizeOf(name) : undefined;
    results.push({ path, isDir, ...(size !== undefined && { size }) });
    if (results.length >= limit) break;
  }
  if (results.length === 0 && glob.refusal !== undefined) throw glob.refusal;
  return results;
}

function ignoreOmission(_: SearchOmission): void {}
