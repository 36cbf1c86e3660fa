import { isUtf8 } from "node:buffer";
import type { Stats } from "node:fs";
import { lstat, rename, stat } from "node:fs/promises";
import { basename } from "node:path/posix";
import { type FileInfo, type TransferResult, type Vfs, type VfsCapability, VfsError } from "@keelson/protocol";
import { copyTree } from "./copy-tree.ts";
import { globDisk, grepDisk } from "./disk-search.ts";
import { listDirectory } from "./list-directory.ts";
import { mimeTypeOf } from "./file-type.ts";
import { withPathLock } from "./path-lock.ts";
import { removeTree } from "./remove-tree.ts";
import { entryOf } from "./replace-file.ts";
import { createRootedFiles, isDirectory } from "./rooted-files.ts";
import { createRootedPaths, isWithin, type RootedPath } from "./rooted-paths.ts";
import { systemCode, vfsErrorFrom } from "./vfs-error-from.ts";
import { checkOptionNames } from "../../json/option-names.ts";

export interface DiskVfsOptions {
  /** The folder that relative paths start at and that no path may leave. It must exist. */
  readonly root: string;
  /** More folders that may be reached, by absolute paths. */
  readonly allowed?: readonly string[] | undefined;
  /** Take everything that writes out of the capabilities. */
  readonly readOnly?: boolean | undefined;
  /** Bytes of the largest file that is read whole. Default 64 MiB. */
  readonly maxReadBytes?: number | undefined;
}

export interface DiskVfs extends Vfs {
  /** The real path of the root. */
  readonly root: string;
  /** The real path that a path given to this file system leads to, links followed; throws `VfsError` when it leads outside. */
  resolve(path: string): string;
}

const READ_CAPABILITIES: readonly VfsCapability[] = ["ls", "read", "grep", "glob", "pwd", "cd"];
const WRITE_CAPABILITIES: readonly VfsCapability[] = ["write", "edit", "rm", "cp", "mv"];
const DEFAULT_MAX_READ_BYTES = 64 * 1024 * 1024;

/**
 * The files below a folder of this machine. Absolute paths are the machine's own; results name files by their absolute
 * real path. No path leads outside the roots, also not through symbolic links or folders swapped while a call runs
 * (airtight on Linux, elsewhere checked at opening). Writes are all or nothing and wait for each other per file.
 * A search walks past folders and files it may not read, and past files over `maxReadBytes`, unless one was named.
 */
export function createDiskVfs(options: DiskVfsOptions): DiskVfs {
  checkOptionNames("createDiskVfs", options, { root: true, allowed: true, readOnly: true, maxReadBytes: true });
  const { root, allowed = [], readOnly = false, maxReadBytes = DEFAULT_MAX_READ_BYTES } = options;
  const paths = createRootedPaths(root, allowed);
  let workingDirectory = paths.root;
  const capabilities: ReadonlySet<VfsCapability> = new Set(readOnly ? READ_CAPABILITIES : [...READ_CAPABILITIES, ...WRITE_CAPABILITIES]);

  const resolve = (path: string): Promise<RootedPath> => paths.resolve(path, workingDirectory);
  const requireWritable = (operation: VfsCapability): void => {
    if (readOnly)
      throw new VfsError({ kind: "unsupported", operation, message: `This file system is read-only: ${operation} is not possible.` });
  };
  const { folderOf, parentFor, isRootItself, readBytes, write: writeResolved } = createRootedFiles(paths, maxReadBytes);
  const refuseRoot = (real: string): void => {
    if (isRootItself(real))
      throw new VfsError({ kind: "operation-denied", path: real, message: `${real} is the root of this file system; it stays.` });
  };

  return {
    root: paths.root,
    capabilities,
    resolve: (path) => paths.resolveSync(path, workingDirectory),

    async ls(path, { signal } = {}) {
      signal?.throwIfAborted();
      const { real } = await resolve(path);
      return listDirectory(real, paths.root, resolve, signal);
    },

    async stat(path, { signal } = {}) {
      signal?.throwIfAborted();
      const { real } = await resolve(path);
      const entry = await paths.resolveEntry(path, workingDirectory);
      try {
        const stats = await lstat(real);
        return fileInfo(real, stats, entry.real !== real);
      } catch (error) {
        throw vfsErrorFrom(error, path);
      }
    },

    async read(path, { signal } = {}) {
      signal?.throwIfAborted();
      const { real } = await resolve(path);
      const content = await readBytes(real, signal);
      const mimeType = mimeTypeOf(real);
      return { content, ...(mimeType !== undefined && { mimeType }) };
    },

    async write(path, content, { signal, ifUnchanged } = {}) {
      requireWritable("write");
      signal?.throwIfAborted();
      const target = await resolve(path);
      return withPathLock([target.real], () => writeResolved(target, content, ifUnchanged));
    },

    async edit(path, oldText, newText, { signal } = {}) {
      requireWritable("edit");
      signal?.throwIfAborted();
      if (oldText === "")
        throw new VfsError({
          kind: "other",
          message: `Nothing to replace in ${path}: the old text is empty. Use write to set the content.`,
        });
      const target = await resolve(path);
      return withPathLock([target.real], async () => {
        // On bytes, so that what is not UTF-8 in the file stays as it is.
        const before = await readBytes(target.real, signal);
        const old = Buffer.from(oldText, "utf8");
        const at = before.indexOf(old);
        if (at === -1) return { path: target.real, editsApplied: 0 };
        const after = Buffer.concat([before.subarray(0, at), Buffer.from(newText, "utf8"), before.subarray(at + old.byteLength)]);
        await writeResolved(target, after, before);
        return { path: target.real, editsApplied: 1, ...(isUtf8(after) && { contentAfter: after.toString("utf8") }) };
      });
    },

    async grep(pattern, options = {}) {
      const { signal } = options;
      const start = (await resolve(options.path ?? ".")).real;
      return grepDisk(pattern, options, { start, root: paths.root, ...(signal !== undefined && { signal }) }, (file) =>
        readBytes(file, signal),
      );
    },

    async glob(pattern, { path = ".", limit = Number.POSITIVE_INFINITY, signal } = {}) {
      const start = (await resolve(path)).real;
      return globDisk(pattern, limit, { start, root: paths.root, ...(signal !== undefined && { signal }) });
    },

    upload: async () => {
      throw new VfsError({ kind: "unsupported", operation: "upload", message: "These files are on this machine already: use cp." });
    },
    download: async () => {
      throw new VfsError({ kind: "unsupported", operation: "download", message: "These files are on this machine already: use cp." });
    },

    pwd: async () => workingDirectory,

    async cd(path) {
      const { real } = await resolve(path);
      const stats = await stat(real).catch((error: unknown) => {
        throw vfsErrorFrom(error, real);
      });
      if (!stats.isDirectory()) throw new VfsError({ kind: "not-directory", path: real, message: `${real} is a file, not a folder.` });
      workingDirectory = real;
    },

    async rm(path, { recursive = false, signal } = {}) {
      requireWritable("rm");
      signal?.throwIfAborted();
      const { real } = await paths.resolveEntry(path, workingDirectory);
      refuseRoot(real);
      await withPathLock([real], async () => {
        await using folder = await folderOf(real);
        const name = basename(real);
        const entry = await entryOf(folder.at(name), real);
        if (entry === undefined) throw new VfsError({ kind: "not-found", path: real, message: `No such file or folder: ${real}.` });
        if (entry.isDirectory() && !recursive)
          throw new VfsError({
            kind: "is-directory",
            path: real,
            message: `${real} is a folder. To remove it with all it holds, set recursive.`,
          });
        await removeTree(folder, name, entry.isDirectory(), paths.root, signal);
      });
    },

    async cp(from, to, { signal } = {}) {
      requireWritable("cp");
      signal?.throwIfAborted();
      const source = (await resolve(from)).real;
      const target = await resolve(to);
      refuseRoot(target.real);
      return withPathLock([source, target.real], () => copy(source, target, signal));
    },

    async mv(from, to, { signal } = {}) {
      requireWritable("mv");
      signal?.throwIfAborted();
      const source = (await paths.resolveEntry(from, workingDirectory)).real;
      const target = await paths.resolveEntry(to, workingDirectory);
      refuseRoot(source);
      refuseRoot(target.real);
      if (isWithin(source, target.real) && source !== target.real) throw intoItself(source, target.real);
      return withPathLock([source, target.real], async () => {
        await using sourceFolder = await folderOf(source);
        const entry = await entryOf(sourceFolder.at(basename(source)), source);
        if (entry === undefined) throw new VfsError({ kind: "not-found", path: source, message: `No such file or folder: ${source}.` });
        await using targetFolder = await parentFor(target);
        const there = await entryOf(targetFolder.at(basename(target.real)), target.real);
        if (there?.isDirectory() && source !== target.real) throw isDirectory(target.real);
        const bytesTransferred = entry.isDirectory() ? 0 : entry.size;
        try {
          await rename(sourceFolder.at(basename(source)), targetFolder.at(basename(target.real)));
        } catch (error) {
          if (systemCode(error) !== "EXDEV") throw vfsErrorFrom(error, target.real);
          // Another disk: the copy is whole before the original goes.
          const copied = await copyTree(sourceFolder, basename(source), targetFolder, basename(target.real), paths.root, signal);
          await removeTree(sourceFolder, basename(source), entry.isDirectory(), paths.root, signal);
          return { path: target.real, bytesTransferred: copied };
        }
        return { path: target.real, bytesTransferred };
      });
    },
  };

  async function copy(source: string, target: RootedPath, signal?: AbortSignal): Promise<TransferResult> {
    if (isRootItself(source) || (isWithin(source, target.real) && source !== target.real)) throw intoItself(source, target.real);
    if (source === target.real) throw new VfsError({ kind: "other", message: `${source} cannot be copied onto itself.` });
    await using sourceFolder = await folderOf(source);
    await using targetFolder = await parentFor(target);
    return {
      path: target.real,
      bytesTransferred: await copyTree(sourceFolder, basename(source), targetFolder, basename(target.real), paths.root, signal),
    };
  }
}

function fileInfo(path: string, stats: Stats, isSymlink: boolean): FileInfo {
  return {
    path,
    size: stats.size,
    isDir: stats.isDirectory(),
    isSymlink,
    modified: Math.trunc(stats.mtimeMs),
    permissions: stats.mode & 0o7777,
  };
}

function intoItself(from: string, to: string): VfsError {
  return new VfsError({ kind: "other", message: `${from} cannot be placed at ${to}, which lies inside it.` });
}
