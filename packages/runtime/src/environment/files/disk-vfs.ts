import type { Stats } from "node:fs";
import { rename } from "node:fs/promises";
import { basename } from "node:path/posix";
import type { FileInfo, TransferResult, Vfs, VfsCapability } from "@keelson/protocol";
import { copyTree } from "./copy-tree.ts";
import { type DiskView, OWN_VIEW } from "./disk-view.ts";
import { editBytes, requireOldText } from "./edit-bytes.ts";
import { mimeTypeOf } from "./file-type.ts";
import { type FileAccess, refusedAccess } from "./file-access.ts";
import { createLineFilter } from "../search/create-line-filter.ts";
import { listDirectory } from "./list-directory.ts";
import { withPathLock } from "./path-lock.ts";
import { TRANSFERS_ON_DISK } from "./refused-transfers.ts";
import { removeTree } from "./remove-tree.ts";
import { entryOf } from "./replace-file.ts";
import { createRootedFiles } from "./rooted-files.ts";
import { createRootedPaths, type RootedPath } from "./rooted-paths.ts";
import { createDiskFolders, openDiskFolder } from "../search/disk-folder.ts";
import { readRegularFile } from "../search/read-regular-file.ts";
import type { SearchableFiles } from "../search/searchable-files.ts";
import { globFiles, grepFiles } from "../search/search-files.ts";
import { systemCode, vfsErrorFrom } from "./vfs-error-from.ts";
import { intoItself, isDirectory, needsRecursive, notDirectory, notFound, ontoItself, rootStays, unsupported } from "./vfs-failures.ts";
import { isWithin } from "./virtual-path.ts";
import { addToRecords } from "../sandbox/watch-records.ts";
import { checkOptionNames } from "../../json/option-names.ts";
import { withTimeoutErrors } from "./with-timeout-errors.ts";
import { checkMethodOptions } from "../../json/check-method-options.ts";
import { VFS_METHODS } from "../../json/interface-methods.ts";
import { BOUND_OPTION, FLAG_OPTION } from "../../json/option-rules.ts";

export interface DiskVfsOptions {
  /** The folder that relative paths start at and that no path may leave. It must exist. */
  readonly root: string;
  /** More folders that may be reached, by absolute paths. */
  readonly allowed?: readonly string[] | undefined;
  /** Take everything that writes out of the capabilities. */
  readonly readOnly?: boolean | undefined;
  /** Bytes of the largest file that is read whole. Default 64 MiB. */
  readonly maxReadBytes?: number | undefined;
  /**
   * The ripgrep that finds which texts may match a `grep` for a pattern without a fixed text. It gets texts on its standard input and opens no file.
   * Default: that of the package `@vscode/ripgrep` where it is installed. `false` for none: the same results, found more slowly. On Linux a
   * program inside of the roots runs in bubblewrap, or not at all: a command could have replaced it.
   */
  readonly ripgrep?: string | false | undefined;
  /** What of it may be read and written. Default: all. What may not be read is not found by searches either. */
  readonly access?: FileAccess | undefined;
}

export interface DiskVfs extends Vfs {
  /** The real path of the root. */
  readonly root: string;
  realPath(path: string): Promise<string>;
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
 * A search reads large files in pieces, and tells `onOmitted` of what it leaves out.
 */
export function createDiskVfs(options: DiskVfsOptions): DiskVfs {
  return createViewedVfs(OWN_VIEW, options);
}

/** Does the same as `createDiskVfs` with the disk as a view shows it. */
export function createViewedVfs(disk: DiskView, options: DiskVfsOptions): DiskVfs {
  checkOptionNames("createDiskVfs", options, {
    root: true,
    allowed: true,
    readOnly: FLAG_OPTION,
    maxReadBytes: BOUND_OPTION,
    ripgrep: true,
    access: true,
  });
  const { root, allowed = [], readOnly = false, maxReadBytes = DEFAULT_MAX_READ_BYTES, ripgrep, access } = options;
  const paths = createRootedPaths(root, allowed, access, disk);
  let workingDirectory = paths.root;
  const capabilities: ReadonlySet<VfsCapability> = new Set(readOnly ? READ_CAPABILITIES : [...READ_CAPABILITIES, ...WRITE_CAPABILITIES]);

  const resolve = (path: string): Promise<RootedPath> => paths.resolve(path, workingDirectory);
  const requireWritable = (operation: VfsCapability): void => {
    if (readOnly) throw unsupported(operation, `This file system is read-only: ${operation} is not possible.`);
  };
  const rooted = createRootedFiles(paths, maxReadBytes);
  const { folderOf, parentFor, isRootItself, entryAt, readBytes, write: writeResolved } = rooted;
  const isShown = (real: string): boolean => access === undefined || access.of(real) !== "none";
  const requireChangeable = (real: string): void => {
    if (access !== undefined && access.of(real) !== "write") throw refusedAccess(access, "write", real, real);
  };
  /** For what takes a folder with all that is in it. */
  const requireWhole = (real: string, least: "read" | "write"): void => {
    if (access === undefined) return;
    const level = access.within(real);
    if (level === "none") throw refusedAccess(access, "read", real, real);
    if (level === "read" && least === "write") throw refusedAccess(access, "write", real, real);
  };
  const refuseRoot = (real: string): void => {
    if (isRootItself(real)) throw rootStays(real);
  };
  // Each search has a place of its own that files are read into.
  const searchable = (): SearchableFiles => {
    const folders = createDiskFolders(paths.root, paths.disk, maxReadBytes);
    return {
      rootOf: paths.rootOf,
      isFolder: async (real) => (await entryAt(real)).isDirectory(),
      openFolder: (real) => openDiskFolder(real, folders),
      ...(access !== undefined && { isShown }),
      readOutside: readRegularFile,
      lineFilter: () => createLineFilter(ripgrep, [root, ...allowed]),
    };
  };

  const files: DiskVfs = withTimeoutErrors({
    root: paths.root,
    capabilities,
    resolve: (path) => paths.resolveSync(path, workingDirectory),
    realPath: async (path) => (await resolve(path)).real,

    async ls(path, { signal } = {}) {
      signal?.throwIfAborted();
      const { real } = await resolve(path);
      const entries = await listDirectory(real, paths.root, paths.disk, leadsToFolder, signal);
      return access === undefined ? entries : entries.filter((entry) => isShown(entry.path));
    },

    async stat(path, { signal } = {}) {
      signal?.throwIfAborted();
      const { real } = await resolve(path);
      const entry = await paths.resolveEntry(path, workingDirectory);
      return fileInfo(real, await entryAt(real), entry.real !== real);
    },

    async read(path, { signal } = {}) {
      signal?.throwIfAborted();
      const { real } = await resolve(path);
      const content = await readBytes(real, signal);
      const mimeType = mimeTypeOf(real);
      return { content, ...(mimeType !== undefined && { mimeType }) };
    },

    async readPart(path, part) {
      const { real } = await resolve(path);
      const mimeType = mimeTypeOf(real);
      return { content: await rooted.readPart(real, part), ...(mimeType !== undefined && { mimeType }) };
    },

    async write(path, content, { signal, ifUnchanged } = {}) {
      requireWritable("write");
      signal?.throwIfAborted();
      const target = await resolve(path);
      requireChangeable(target.real);
      if (disk === OWN_VIEW) addToRecords(target.real);
      return withPathLock([target.real], () => writeResolved(target, content, ifUnchanged));
    },

    async edit(path, oldText, newText, { signal } = {}) {
      requireWritable("edit");
      signal?.throwIfAborted();
      requireOldText(path, oldText);
      const target = await resolve(path);
      requireChangeable(target.real);
      return withPathLock([target.real], async () => {
        const before = await readBytes(target.real, signal);
        const edited = editBytes(target.real, before, oldText, newText);
        if (edited === undefined) return { path: target.real, editsApplied: 0 };
        await writeResolved(target, edited.bytes, before);
        return edited.result;
      });
    },

    async grep(pattern, options = {}) {
      const start = (await resolve(options.path ?? ".")).real;
      return grepFiles(searchable(), start, pattern, options);
    },

    async glob(pattern, options = {}) {
      return globFiles(searchable(), (await resolve(options.path ?? ".")).real, pattern, options);
    },

    ...TRANSFERS_ON_DISK,

    pwd: async () => workingDirectory,

    async cd(path) {
      const { real } = await resolve(path);
      if (!(await entryAt(real)).isDirectory()) throw notDirectory(real);
      workingDirectory = real;
    },

    async rm(path, { recursive = false, signal } = {}) {
      requireWritable("rm");
      signal?.throwIfAborted();
      const { real } = await paths.resolveEntry(path, workingDirectory);
      refuseRoot(real);
      requireWhole(real, "write");
      await withPathLock([real], async () => {
        await using folder = await folderOf(real);
        const name = basename(real);
        const entry = await entryOf(folder.at(name), real);
        if (entry === undefined) throw notFound(real);
        if (entry.isDirectory() && !recursive) throw needsRecursive(real);
        await removeTree(folder, name, entry.isDirectory(), paths.root, signal);
      });
    },

    async cp(from, to, { signal } = {}) {
      requireWritable("cp");
      signal?.throwIfAborted();
      const source = (await resolve(from)).real;
      const target = await resolve(to);
      refuseRoot(target.real);
      requireWhole(source, "read");
      requireWhole(target.real, "write");
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
      requireWhole(source, "write");
      requireWhole(target.real, "write");
      return withPathLock([source, target.real], async () => {
        await using sourceFolder = await folderOf(source);
        const entry = await entryOf(sourceFolder.at(basename(source)), source);
        if (entry === undefined) throw notFound(source);
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
  });
  return checkMethodOptions("files", files, VFS_METHODS);

  async function leadsToFolder(path: string): Promise<boolean> {
    try {
      return (await entryAt((await resolve(path)).real)).isDirectory();
    } catch {
      return false; // it leads nowhere or outside
    }
  }

  async function copy(source: string, target: RootedPath, signal?: AbortSignal): Promise<TransferResult> {
    if (isRootItself(source) || (isWithin(source, target.real) && source !== target.real)) throw intoItself(source, target.real);
    if (source === target.real) throw ontoItself(source);
    await using sourceFolder = await folderOf(source);
    // Where there is nothing to copy, no folder is made for it.
    if ((await entryOf(sourceFolder.at(basename(source)), source)) === undefined) throw notFound(source);
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
    changed: Math.trunc(stats.ctimeMs),
    inode: stats.ino,
    permissions: stats.mode & 0o7777,
    ...(stats.isFile() && { links: stats.nlink }),
  };
}
