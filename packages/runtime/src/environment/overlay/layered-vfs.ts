import { lstat, mkdir, rename, rm, symlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path/posix";
import { type DirEntry, type PartOptions, type Vfs, type VfsCapability, VfsError } from "@keelson/protocol";
import { openDirectory } from "../files/anchored-directory.ts";
import { editBytes, requireOldText } from "../files/edit-bytes.ts";
import { mimeTypeOf } from "../files/file-type.ts";
import { withPathLock } from "../files/path-lock.ts";
import { TRANSFERS_ON_DISK } from "../files/refused-transfers.ts";
import { replaceFile } from "../files/replace-file.ts";
import { requireWritable } from "../files/require-writable.ts";
import { createRootedFiles } from "../files/rooted-files.ts";
import { createRootedPaths } from "../files/rooted-paths.ts";
import { temporaryName } from "../files/temporary-file.ts";
import type { SearchableFiles } from "../search/searchable-files.ts";
import { globFiles, grepFiles } from "../search/search-files.ts";
import { createLineFilter } from "../search/create-line-filter.ts";
import { readRegularFile } from "../search/read-regular-file.ts";
import {
  folderInTheWay,
  hardLinked,
  intoItself,
  isDirectory,
  needsRecursive,
  notDirectory,
  ontoItself,
  rootStays,
  unexpectedContent,
  unsupported,
} from "../files/vfs-failures.ts";
import { isWithin, joinPath } from "../files/virtual-path.ts";
import { copyOriginal, withEntry } from "./anchored-entry.ts";
import type { LayeredTree } from "./layered-tree.ts";
import { openLayeredFolder } from "./layered-folder.ts";
import { withTimeoutErrors } from "../files/with-timeout-errors.ts";

const CAPABILITIES: readonly VfsCapability[] = ["ls", "read", "grep", "glob", "pwd", "cd", "write", "edit", "rm", "cp", "mv"];

/** The files of a layered tree: what is changed goes to its upper folder, and the base stays as it is. */
export function createLayeredVfs(tree: LayeredTree, upperFolder: string, maxReadBytes: number): Vfs {
  const root = tree.base;
  const baseFiles = createRootedFiles(createRootedPaths(root, []), maxReadBytes);
  const upperFiles = createRootedFiles(createRootedPaths(upperFolder, []), maxReadBytes);
  let workingDirectory = root;
  const resolve = (path: string): Promise<string> => tree.resolve(path, workingDirectory);
  const resolveEntry = (path: string): Promise<string> => tree.resolveEntry(path, workingDirectory);

  async function readBytes(path: string, signal?: AbortSignal): Promise<Buffer> {
    const { isUpper, stats } = await tree.require(path);
    if (stats.isDirectory()) throw isDirectory(path);
    return isUpper ? upperFiles.readBytes(tree.upper(path), signal) : baseFiles.readBytes(path, signal);
  }
  async function readPartBytes(path: string, part: PartOptions): Promise<Buffer> {
    const { isUpper, stats } = await tree.require(path);
    if (stats.isDirectory()) throw isDirectory(path);
    return isUpper ? upperFiles.readPart(tree.upper(path), part) : baseFiles.readPart(path, part);
  }
  async function* readPiecesOf(path: string, maxBytes: number, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    const { isUpper } = await tree.require(path);
    yield* isUpper ? upperFiles.readPieces(tree.upper(path), maxBytes, signal) : baseFiles.readPieces(path, maxBytes, signal);
  }
  async function writeBytes(path: string, bytes: Uint8Array, ifUnchanged?: Uint8Array | null): Promise<void> {
    if (path === root) throw isDirectory(path);
    const there = await tree.find(path);
    if (there?.stats.isDirectory()) throw isDirectory(path);
    if (there !== undefined && !there.isUpper) {
      if (!there.stats.isFile()) throw unsupported("write", `${path} is not a regular file; it is not replaced.`);
      if (there.stats.nlink > 1) throw hardLinked(path, there.stats.nlink);
      await withEntry(root, path, (location) => requireWritable(location, path));
      if (ifUnchanged === null) throw unexpectedContent(path, "it exists already");
      if (ifUnchanged !== undefined && Buffer.compare(await readBytes(path), ifUnchanged) !== 0)
        throw unexpectedContent(path, "its content changed");
    }
    if (there === undefined && ifUnchanged != null) throw unexpectedContent(path, "it is gone");
    await tree.makeParent(path);
    await using folder = await openDirectory(dirname(tree.upper(path)), upperFolder);
    try {
      await replaceFile(folder, basename(path), {
        async write(file) {
          await file.writeFile(bytes);
          return bytes.byteLength;
        },
        ...(there !== undefined && { mode: there.stats.mode }),
        ...(ifUnchanged !== undefined && there?.isUpper === true && { ifUnchanged }),
      });
    } catch (error) {
      throw told(error, tree.upper(path), path);
    }
  }

  /** Copies what stands at `from` to a place in the upper layer where nothing, or a file, stands. @returns bytes of content */
  async function copy(from: string, to: string, signal?: AbortSignal): Promise<number> {
    signal?.throwIfAborted();
    const source = await tree.require(from);
    const { stats } = source;
    await tree.makeParent(to);
    const target = tree.upper(to);
    if (stats.isDirectory()) {
      const names = await tree.list(from);
      await mkdir(target, { mode: stats.mode & 0o7777 });
      let bytes = 0;
      for (const name of names) bytes += await copy(joinPath(from, name), joinPath(to, name), signal);
      return bytes;
    }
    if (stats.isSymbolicLink()) {
      await rm(target, { force: true });
      await symlink(await tree.linkTarget(source), target);
      return 0;
    }
    if (!stats.isFile()) throw unsupported("cp", `${from} is neither a file nor a folder (a pipe, socket or device).`);
    const temporary = join(dirname(target), temporaryName());
    try {
      if (source.isUpper) await copyOriginal(source.location, temporary);
      else await withEntry(root, from, (location) => copyOriginal(location, temporary));
      await rename(temporary, target);
    } finally {
      await rm(temporary, { force: true });
    }
    return stats.size;
  }
  async function remove(path: string): Promise<void> {
    // First hidden, then removed: in between nothing of the base shows through.
    if ((await entryOrNone(path)) !== undefined) await tree.hide(path);
    await rm(tree.upper(path), { recursive: true, force: true });
  }

  const searchable: SearchableFiles = {
    rootOf: () => root,
    isFolder: async (path) => (await tree.require(path)).stats.isDirectory(),
    openFolder: (path) => openLayeredFolder(tree, path, { whole: readBytes, pieces: readPiecesOf }),
    readOutside: readRegularFile,
    lineFilter: () => createLineFilter(undefined, [root]),
  };

  return withTimeoutErrors({
    root,
    capabilities: new Set(CAPABILITIES),
    realPath: resolve,

    async ls(path, { signal } = {}) {
      signal?.throwIfAborted();
      const folder = await resolve(path);
      await tree.require(folder);
      const entries: DirEntry[] = [];
      for (const name of await tree.list(folder)) {
        signal?.throwIfAborted();
        const entry = await tree.find(joinPath(folder, name));
        if (entry === undefined) continue; // removed since the folder was listed
        const isDir = entry.stats.isSymbolicLink() ? await leadsToFolder(entry.path) : entry.stats.isDirectory();
        const { stats } = entry;
        entries.push({ name, path: entry.path, isDir, ...(stats.isFile() && { size: stats.size }), modified: Math.trunc(stats.mtimeMs) });
      }
      return entries;
    },

    async stat(path, { signal } = {}) {
      signal?.throwIfAborted();
      const real = await resolve(path);
      const { stats } = await tree.require(real);
      return {
        path: real,
        size: stats.size,
        isDir: stats.isDirectory(),
        isSymlink: (await resolveEntry(path)) !== real,
        modified: Math.trunc(stats.mtimeMs),
        permissions: stats.mode & 0o7777,
        ...(stats.isFile() && { links: stats.nlink }),
      };
    },

    async read(path, { signal } = {}) {
      signal?.throwIfAborted();
      const real = await resolve(path);
      const content = await readBytes(real, signal).catch((error: unknown) => {
        throw told(error, tree.upper(real), real);
      });
      const mimeType = mimeTypeOf(real);
      return { content, ...(mimeType !== undefined && { mimeType }) };
    },

    async readPart(path, part) {
      part.signal?.throwIfAborted();
      const real = await resolve(path);
      const content = await readPartBytes(real, part).catch((error: unknown) => {
        throw told(error, tree.upper(real), real);
      });
      const mimeType = mimeTypeOf(real);
      return { content, ...(mimeType !== undefined && { mimeType }) };
    },

    async write(path, content, { signal, ifUnchanged } = {}) {
      signal?.throwIfAborted();
      const real = await resolve(path);
      const bytes = typeof content === "string" ? Buffer.from(content, "utf8") : content;
      return withPathLock([tree.upper(real)], async () => {
        await writeBytes(real, bytes, ifUnchanged);
        return { path: real, bytesWritten: bytes.byteLength };
      });
    },

    async edit(path, oldText, newText, { signal } = {}) {
      signal?.throwIfAborted();
      requireOldText(path, oldText);
      const real = await resolve(path);
      return withPathLock([tree.upper(real)], async () => {
        const before = await readBytes(real, signal);
        const edited = editBytes(real, before, oldText, newText);
        if (edited === undefined) return { path: real, editsApplied: 0 };
        await writeBytes(real, edited.bytes, before);
        return edited.result;
      });
    },

    grep: async (pattern, options = {}) => grepFiles(searchable, await resolve(options.path ?? "."), pattern, options),
    glob: async (pattern, options = {}) => globFiles(searchable, await resolve(options.path ?? "."), pattern, options),

    ...TRANSFERS_ON_DISK,

    pwd: async () => workingDirectory,
    async cd(path) {
      const real = await resolve(path);
      if (!(await tree.require(real)).stats.isDirectory()) throw notDirectory(real);
      workingDirectory = real;
    },

    async rm(path, { recursive = false, signal } = {}) {
      signal?.throwIfAborted();
      const real = await resolveEntry(path);
      if (real === root) throw rootStays(real);
      await withPathLock([tree.upper(real)], async () => {
        if ((await tree.require(real)).stats.isDirectory() && !recursive) throw needsRecursive(real);
        await remove(real);
      });
    },

    async cp(from, to, { signal } = {}) {
      signal?.throwIfAborted();
      const source = await resolve(from);
      const target = await resolve(to);
      if (target === root) throw rootStays(target);
      if (source === root || (isWithin(source, target) && source !== target)) throw intoItself(source, target);
      if (source === target) throw ontoItself(source);
      return withPathLock([tree.upper(source), tree.upper(target)], async () => {
        const { stats } = await tree.require(source);
        const there = await tree.find(target);
        if (there !== undefined && stats.isDirectory()) throw folderInTheWay(target);
        if (there?.stats.isDirectory()) throw isDirectory(target);
        return { path: target, bytesTransferred: await copy(source, target, signal) };
      });
    },

    async mv(from, to, { signal } = {}) {
      signal?.throwIfAborted();
      const source = await resolveEntry(from);
      const target = await resolveEntry(to);
      if (source === root || target === root) throw rootStays(root);
      if (isWithin(source, target) && source !== target) throw intoItself(source, target);
      return withPathLock([tree.upper(source), tree.upper(target)], async () => {
        const { stats } = await tree.require(source);
        const bytesTransferred = stats.isDirectory() ? 0 : stats.size;
        if (source === target) return { path: target, bytesTransferred };
        const there = await tree.find(target);
        if (there?.stats.isDirectory()) throw isDirectory(target);
        if (there !== undefined && stats.isDirectory()) throw notDirectory(target);
        await copy(source, target, signal);
        await remove(source);
        return { path: target, bytesTransferred };
      });
    },
  });

  async function leadsToFolder(path: string): Promise<boolean> {
    try {
      return (await tree.require(await resolve(path))).stats.isDirectory();
    } catch {
      return false; // it leads nowhere or outside
    }
  }

  async function entryOrNone(path: string): Promise<unknown> {
    return withEntry(root, path, (location) => lstat(location)).catch(() => undefined);
  }
}

/** An error about a file of the upper folder is told of the path that it stands for. */
function told(error: unknown, location: string, path: string): unknown {
  if (!VfsError.is(error) || !("path" in error.failure)) return error;
  const { failure } = error;
  return new VfsError({ ...failure, path, message: failure.message.replaceAll(location, () => path) }, { cause: error });
}
