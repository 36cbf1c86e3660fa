import { readFileSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path/posix";
import { isMissing, systemPath } from "./folder-listing.ts";

const HEADER_BYTES = 12;
/** Bytes of an entry before its object id. */
const BEFORE_ID = 40;
const MAX_BYTES = 512 * 1024 * 1024;

/** Files that git tracks, by path below the worktree in bytes as of `FolderListing`, with the id of the blob in the index. */
export type TrackedFiles = ReadonlyMap<string, string>;

const kept = new Map<string, { readonly stamp: string; readonly tracked: TrackedFiles }>();
const MAX_KEPT = 16;
const NONE: TrackedFiles = new Map();

/**
 * Reads the index of the repository whose worktree is a folder, without starting git, which could run programs that its settings name.
 * @param folder where this process reaches it, in bytes @param wanted which paths are kept; always the same function for a folder
 * @returns no files if there is no index, or one that is not understood
 */
export function trackedFiles(folder: string, wanted: (path: string) => boolean): TrackedFiles {
  const git = gitFolder(join(folder, ".git"));
  if (git === undefined) return NONE;
  const path = join(git, "index");
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(systemPath(path), { bigint: true });
    if (size > MAX_BYTES) return NONE;
    const stamp = `${ino}:${size}:${mtimeNs}:${ctimeNs}`;
    const known = kept.get(folder);
    if (known?.stamp === stamp) return known.tracked;
    const tracked = parseIndex(readFileSync(systemPath(path)), idBytes(git), wanted) ?? NONE;
    if (kept.size >= MAX_KEPT) kept.clear();
    kept.set(folder, { stamp, tracked });
    return tracked;
  } catch (error) {
    if (isMissing(error) || error instanceof RangeError) return NONE;
    throw error;
  }
}

/** True if git tracks the file, or a file in the folder. @param folder of the worktree, in bytes @param path below it @returns also true if the index is not understood */
export function tracks(folder: string, path: string): boolean {
  const git = gitFolder(join(folder, ".git"));
  if (git === undefined) return false;
  try {
    const wanted = (one: string): boolean => one === path || one.startsWith(`${path}/`);
    const found = parseIndex(readFileSync(systemPath(join(git, "index"))), idBytes(git), wanted);
    return found === undefined || found.size > 0;
  } catch (error) {
    if (isMissing(error)) return false;
    if (error instanceof RangeError) return true;
    throw error;
  }
}

/** @returns `undefined` if the format is not understood, as that of an index that is split into two files */
export function parseIndex(bytes: Buffer, idLength: number, wanted: (path: string) => boolean): TrackedFiles | undefined {
  const version = bytes.readUInt32BE(4);
  if (bytes.toString("latin1", 0, 4) !== "DIRC" || version < 2 || version > 4) return undefined;
  const count = bytes.readUInt32BE(8);
  const tracked = new Map<string, string>();
  let at = HEADER_BYTES;
  let before = "";
  for (let index = 0; index < count; index++) {
    const start = at;
    const id = at + BEFORE_ID;
    const flags = bytes.readUInt16BE(id + idLength);
    at = id + idLength + ((flags & 0x4000) === 0 ? 2 : 4);
    let path: string;
    if (version === 4) {
      const { removed, next } = readOffset(bytes, at);
      const end = bytes.indexOf(0, next);
      path = before.slice(0, before.length - removed) + bytes.toString("latin1", next, end);
      before = path;
      at = end + 1;
    } else {
      const end = bytes.indexOf(0, at);
      path = bytes.toString("latin1", at, end);
      at = start + ((end - start + 8) & ~7);
    }
    if (at <= start || at > bytes.length) return undefined;
    if (wanted(path)) tracked.set(path, bytes.toString("hex", id, id + idLength));
  }
  // Extensions follow. That of a split index means that entries are elsewhere.
  while (at + 8 <= bytes.length - idLength) {
    if (bytes.toString("latin1", at, at + 4) === "link") return undefined;
    at += 8 + bytes.readUInt32BE(at + 4);
  }
  return tracked;
}

/** Reads a number of variable length, as in packs. */
function readOffset(bytes: Buffer, from: number): { readonly removed: number; readonly next: number } {
  let at = from;
  let byte = bytes.readUInt8(at++);
  let removed = byte & 0x7f;
  while ((byte & 0x80) !== 0) {
    byte = bytes.readUInt8(at++);
    removed = (removed + 1) * 128 + (byte & 0x7f);
  }
  return { removed, next: at };
}

/** The folder of a repository, by its `.git` folder or file. */
function gitFolder(path: string): string | undefined {
  try {
    if (statSync(systemPath(path)).isDirectory()) return path;
    const named = /^gitdir: ([^\n]+)\n?$/.exec(readFileSync(systemPath(path), "latin1"))?.[1];
    return named === undefined ? undefined : isAbsolute(named) ? named : join(dirname(path), named);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function idBytes(git: string): number {
  try {
    return /^\s*objectformat\s*=\s*sha256\s*$/im.test(readFileSync(systemPath(join(git, "config")), "latin1")) ? 32 : 20;
  } catch (error) {
    // A worktree beside the first: its settings are elsewhere, and hashes of 32 bytes are rare.
    if (isMissing(error)) return 20;
    throw error;
  }
}
