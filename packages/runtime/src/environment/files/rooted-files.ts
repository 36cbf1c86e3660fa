import { closeSync, constants, fstatSync, open as openCallback, type Stats } from "node:fs";
import { lstat } from "node:fs/promises";
import { basename, dirname } from "node:path/posix";
import { promisify } from "node:util";
import { VfsError, type WriteResult } from "@keelson/protocol";
import { type AnchoredDirectory, ensureDirectory, openDirectory } from "./anchored-directory.ts";
import { readPieces as readOpenPieces } from "../search/read-pieces.ts";
import { readOpenFile, readOpenPart } from "./read-open-file.ts";
import { replaceFile } from "./replace-file.ts";
import type { RootedPath, RootedPaths } from "./rooted-paths.ts";
import { systemCode, vfsErrorFrom } from "./vfs-error-from.ts";
import { isDirectory } from "./vfs-failures.ts";

const open = promisify(openCallback);

/** The files at resolved paths, whole: none is read or replaced through a link that was put there since the path was resolved. */
export interface RootedFiles {
  isRootItself(real: string): boolean;
  /** The folder that holds what is at this path. */
  folderOf(real: string): Promise<AnchoredDirectory>;
  /** The folder that holds `target`, its missing parents made. */
  parentFor(target: RootedPath): Promise<AnchoredDirectory>;
  /** What stands at a resolved path; a link that was put there meanwhile is not followed, nor one on the way. */
  entryAt(real: string): Promise<Stats>;
  readBytes(real: string, signal?: AbortSignal): Promise<Buffer>;
  /** The bytes of a file from `start` up to `end`, without those behind its end. Rejects with `resource-limit` for more than `maxReadBytes`. */
  readPart(
    real: string,
    part: { readonly start: number; readonly end: number; readonly signal?: AbortSignal | undefined },
  ): Promise<Buffer>;
  /**
   * The file of this name in an open folder.
   * @param maxBytes rejects with `resource-limit` beyond. Default: `maxReadBytes`
   */
  readFrom(folder: AnchoredDirectory, name: string, signal?: AbortSignal, maxBytes?: number): Promise<Buffer>;
  /** The file piece by piece. Each piece is valid until the next. */
  readPieces(real: string, maxBytes: number, signal?: AbortSignal): AsyncIterable<Buffer>;
  /** @param ifUnchanged what the file must hold until it is replaced; `null` for none */
  write(target: RootedPath, content: Uint8Array | string, ifUnchanged?: Uint8Array | null): Promise<WriteResult>;
}

/** @param maxReadBytes of the largest file that is read */
export function createRootedFiles(paths: RootedPaths, maxReadBytes: number): RootedFiles {
  const isRootItself = (real: string): boolean => !paths.contains(dirname(real)) || real === "/";
  const folderOf = (real: string): Promise<AnchoredDirectory> => openDirectory(dirname(real), paths.root, paths.disk);

  async function parentFor(target: RootedPath): Promise<AnchoredDirectory> {
    if (target.missing.length < 2) return folderOf(target.real);
    let folder = await openDirectory(target.existing, paths.root, paths.disk);
    for (const name of target.missing.slice(0, -1)) {
      await using parent = folder;
      folder = await ensureDirectory(parent, name, paths.root);
    }
    return folder;
  }

  async function entryAt(real: string): Promise<Stats> {
    try {
      if (isRootItself(real)) return await lstat(paths.disk.locate(real));
      await using folder = await folderOf(real);
      return await lstat(folder.at(basename(real)));
    } catch (error) {
      throw vfsErrorFrom(error, real);
    }
  }

  async function readBytes(real: string, signal?: AbortSignal): Promise<Buffer> {
    if (isRootItself(real)) throw isDirectory(real);
    await using folder = await folderOf(real);
    return await readFrom(folder, basename(real), signal); // the folder is open until then
  }

  async function readPart(
    real: string,
    { start, end, signal }: { readonly start: number; readonly end: number; readonly signal?: AbortSignal | undefined },
  ): Promise<Buffer> {
    if (isRootItself(real)) throw isDirectory(real);
    if (end - start > maxReadBytes) throw tooLarge(real, end - start, maxReadBytes);
    await using folder = await folderOf(real);
    return await withOpenFile(folder, basename(real), signal, (file) => readOpenPart(file, { start, end, signal }));
  }

  async function readFrom(folder: AnchoredDirectory, name: string, signal?: AbortSignal, maxBytes = maxReadBytes): Promise<Buffer> {
    const real = folder.pathOf(name);
    return withOpenFile(folder, name, signal, async (file, { size }) => {
      if (size > maxBytes) throw tooLarge(real, size, maxBytes);
      const bytes = await readOpenFile(file, { size, maxBytes, signal });
      if (bytes.byteLength > maxBytes) throw tooLarge(real, bytes.byteLength, maxBytes);
      return bytes;
    });
  }

  async function withOpenFile(
    folder: AnchoredDirectory,
    name: string,
    signal: AbortSignal | undefined,
    work: (file: number, stats: Stats) => Promise<Buffer>,
  ): Promise<Buffer> {
    signal?.throwIfAborted();
    const real = folder.pathOf(name);
    const file = await openFile(folder, name);
    try {
      const stats = fstatSync(file); // of a file that was just opened: the system need not ask the disk
      if (stats.isDirectory()) throw isDirectory(real);
      if (!stats.isFile()) throw notRegular(real, "read");
      return await work(file, stats);
    } catch (error) {
      signal?.throwIfAborted();
      throw vfsErrorFrom(error, real);
    } finally {
      closeSync(file);
    }
  }

  async function* readPieces(real: string, maxBytes: number, signal?: AbortSignal): AsyncGenerator<Buffer> {
    if (isRootItself(real)) throw isDirectory(real);
    await using folder = await folderOf(real);
    const file = await openFile(folder, basename(real));
    try {
      const stats = fstatSync(file);
      if (!stats.isFile()) throw notRegular(real, "read");
      if (stats.size > maxBytes) throw tooLarge(real, stats.size, maxBytes);
      yield* readOpenPieces(file, signal);
    } finally {
      closeSync(file);
    }
  }

  /** Opened without following a link that has just been put there. */
  async function openFile(folder: AnchoredDirectory, name: string): Promise<number> {
    const real = folder.pathOf(name);
    try {
      // Not to block on a pipe that nobody writes to.
      return await open(folder.at(name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch (error) {
      throw fileOpenError(error, real, paths.root);
    }
  }

  async function write(target: RootedPath, content: Uint8Array | string, ifUnchanged?: Uint8Array | null): Promise<WriteResult> {
    if (isRootItself(target.real)) throw isDirectory(target.real);
    const bytes = typeof content === "string" ? Buffer.from(content, "utf8") : content;
    await using folder = await parentFor(target);
    const bytesWritten = await replaceFile(folder, basename(target.real), {
      async write(file) {
        await file.writeFile(bytes);
        return bytes.byteLength;
      },
      ...(ifUnchanged !== undefined && { ifUnchanged }),
    });
    return { path: target.real, bytesWritten };
  }

  return { isRootItself, folderOf, parentFor, entryAt, readBytes, readPart, readFrom, readPieces, write };
}

/** Returns the error for a file that was to be opened without following a link. */
export function fileOpenError(error: unknown, path: string, root: string): VfsError {
  const message = `${path} was replaced by a link while it was being opened; it is not read.`;
  if (systemCode(error) === "ELOOP") return new VfsError({ kind: "path-traversal", attempted: path, root, message }, { cause: error });
  if (systemCode(error) === "ENXIO") return notRegular(path, "read");
  return vfsErrorFrom(error, path);
}

export function notRegular(path: string, operation: string): VfsError {
  return new VfsError({ kind: "unsupported", operation, message: `${path} is neither a file nor a folder (a pipe, socket or device).` });
}

export function tooLarge(path: string, size: number, limit: number): VfsError {
  return new VfsError({
    kind: "resource-limit",
    path,
    limit: "maxReadBytes",
    message: `${path} has ${size} bytes, more than the ${limit} that are read at once. Search it or read a part of it with a command.`,
  });
}
