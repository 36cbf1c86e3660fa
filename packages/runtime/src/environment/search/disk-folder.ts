import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
} from "node:fs";
import { movedAway } from "../files/anchored-directory.ts";
import { type DiskView, OWN_VIEW } from "../files/disk-view.ts";
import { readOpenFile } from "../files/read-open-file.ts";
import { fileOpenError, notRegular, tooLarge } from "../files/rooted-files.ts";
import { systemCode, vfsErrorFrom } from "../files/vfs-error-from.ts";
import { isDirectory } from "../files/vfs-failures.ts";
import { readPieces } from "./read-pieces.ts";
import type { FileBytes, ListedEntry, SearchFolder } from "./searchable-files.ts";

export interface DiskFolders {
  readonly root: string;
  readonly disk: DiskView;
  /** Bytes of the largest file that is read whole. */
  readonly maxReadBytes: number;
  /** The place that small files are read into, one after the other. */
  readonly scratch: Buffer;
}

// Reading so much takes less than a millisecond.
const SMALL_BYTES = 1024 * 1024;

/** Returns the options of one search. */
export function createDiskFolders(root: string, disk: DiskView = OWN_VIEW, maxReadBytes: number = Number.POSITIVE_INFINITY): DiskFolders {
  return { root, disk, maxReadBytes, scratch: Buffer.allocUnsafe(Math.min(SMALL_BYTES, maxReadBytes) + 1) };
}

/**
 * Opens a folder of the disk by its real path. Rejects with `path-traversal` if the path leads elsewhere by now. The calls are synchronous, because a search
 * makes tens of thousands of short ones, each of which costs four times as much as a job of the thread pool. A search pauses between them.
 */
export function openDiskFolder(path: string, folders: DiskFolders): SearchFolder {
  const file = openFolder(folders.disk.locate(path), path, folders.root);
  const device = folders.disk.deviceOf(path);
  if (device !== undefined && fstatSync(file).dev !== device) {
    closeSync(file);
    throw movedAway(path, path, folders.root);
  }
  return listFolder(file, path, folders);
}

function openFolder(location: string, path: string, root: string): number {
  try {
    return openSync(location, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    // The last part is a link: ELOOP on some systems, ENOTDIR on others.
    if (systemCode(error) === "ELOOP" || (systemCode(error) === "ENOTDIR" && isLink(location))) throw movedAway(path, path, root);
    throw vfsErrorFrom(error, path);
  }
}

function listFolder(file: number, path: string, folders: DiskFolders): SearchFolder {
  const { root, scratch, maxReadBytes } = folders;
  try {
    const actual = descriptorPath(file);
    const found = actual ?? realpathSync(path);
    if (found !== path) throw movedAway(path, found, root);
    // On Linux the folder is reached by its descriptor, elsewhere by its path.
    const self = actual === undefined ? path : `/proc/self/fd/${file}`;
    const at = (name: string): string => `${self}/${name}`;
    const pathOf = (name: string): string => (path === "/" ? `/${name}` : `${path}/${name}`);
    const entries = readdirSync(self, { withFileTypes: true })
      .map(toListed)
      .sort((a, b) => (a.name < b.name ? -1 : 1));

    const openFile = (name: string): number => {
      try {
        // A pipe without a writer must not block.
        return openSync(at(name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      } catch (error) {
        throw fileOpenError(error, pathOf(name), root);
      }
    };
    /** Opens a regular file, uses it and closes it. */
    async function withFile<T>(name: string, signal: AbortSignal | undefined, use: (file: number, size: number) => Promise<T>): Promise<T> {
      const opened = openFile(name);
      try {
        return await use(opened, sizeOfOpen(opened, pathOf(name)));
      } catch (error) {
        signal?.throwIfAborted();
        throw vfsErrorFrom(error, pathOf(name));
      } finally {
        closeSync(opened);
      }
    }
    return {
      path,
      entries,
      open: (name) => listFolder(openFolder(at(name), pathOf(name), root), pathOf(name), folders),
      read(name): FileBytes {
        const opened = openFile(name);
        try {
          const size = sizeOfOpen(opened, pathOf(name));
          if (size >= scratch.byteLength) return "large";
          let filled = 0;
          for (;;) {
            const count = readSync(opened, scratch, filled, scratch.byteLength - filled, null);
            filled += count;
            // A file whose size is known is read in one call. A file of /proc has the size 0.
            if (count === 0 || (size > 0 && filled >= size)) return scratch.subarray(0, filled);
            if (filled === scratch.byteLength) return "large";
          }
        } catch (error) {
          throw vfsErrorFrom(error, pathOf(name));
        } finally {
          closeSync(opened);
        }
      },
      readWhole: (name, signal) =>
        withFile(name, signal, async (opened, size) => {
          if (size > maxReadBytes) throw tooLarge(pathOf(name), size, maxReadBytes);
          const bytes = await readOpenFile(opened, { size, maxBytes: maxReadBytes, signal });
          if (bytes.byteLength > maxReadBytes) throw tooLarge(pathOf(name), bytes.byteLength, maxReadBytes);
          return bytes;
        }),
      async *pieces(name, maxBytes, signal) {
        const opened = openFile(name);
        try {
          const size = sizeOfOpen(opened, pathOf(name));
          if (size > maxBytes) throw tooLarge(pathOf(name), size, maxBytes);
          yield* readPieces(opened, signal);
        } catch (error) {
          signal?.throwIfAborted();
          throw vfsErrorFrom(error, pathOf(name));
        } finally {
          closeSync(opened);
        }
      },
      sizeOf(name) {
        try {
          const stats = lstatSync(at(name));
          return stats.isFile() ? stats.size : undefined;
        } catch {
          return undefined; // gone meanwhile
        }
      },
      close: () => closeSync(file),
    };
  } catch (error) {
    closeSync(file);
    throw vfsErrorFrom(error, path);
  }
}

function sizeOfOpen(file: number, path: string): number {
  const stats = fstatSync(file);
  if (stats.isDirectory()) throw isDirectory(path);
  if (!stats.isFile()) throw notRegular(path, "read");
  return stats.size;
}

function toListed(entry: Dirent): ListedEntry {
  return { name: entry.name, kind: entry.isFile() ? "file" : entry.isDirectory() ? "folder" : "other" };
}

/** Returns the path that the kernel knows of a descriptor; `undefined` if it has no `/proc`. */
function descriptorPath(file: number): string | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    return readlinkSync(`/proc/self/fd/${file}`);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined; // no /proc here
    throw error;
  }
}

function isLink(location: string): boolean {
  try {
    readlinkSync(location);
    return true;
  } catch {
    return false; // EINVAL: it is no link
  }
}
