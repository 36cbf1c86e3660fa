import { gunzip } from "node:zlib";
import { type ArchiveInfo, type Vfs, VfsError } from "@keelson/protocol";
import { type ArchivedEntry, archiveTooLarge, brokenArchive } from "./archive-entry.ts";
import { createFileTree, type FileTree, type TreeNode } from "./file-tree.ts";
import { isTar, readTar } from "./read-tar.ts";
import { readZip } from "./read-zip.ts";
import { createTreeVfs } from "./tree-vfs.ts";
import { notDirectory, outsideRoot } from "./vfs-failures.ts";
import { requirePossible, resolveVirtualPath } from "./virtual-path.ts";
import { checkOptionNames } from "../../json/option-names.ts";
import { BOUND_OPTION } from "../../json/option-rules.ts";

export interface ArchiveVfsOptions {
  /** Bytes that it may unpack to, all entries together; of a tar.gz with its headers. Default 256 MiB. */
  readonly maxBytes?: number | undefined;
  /** Default 100 000. */
  readonly maxEntries?: number | undefined;
  readonly signal?: AbortSignal | undefined | undefined;
}

export interface ArchiveVfs extends Vfs {
  readonly info: ArchiveInfo;
  /** What the archive holds and this file system does not: links, devices, encrypted files, with the reason. */
  readonly leftOut: readonly { readonly path: string; readonly reason: string }[];
}

const DEFAULT_MAX_BYTES = 256 * 1024 * 1024;
const DEFAULT_MAX_ENTRIES = 100_000;
const GZIP = 0x8b1f;
const ZIP_STARTS: ReadonlySet<number> = new Set([0x04034b50, 0x06054b50]);

/**
 * The files of an archive (zip, tar, tar.gz), to be read. It is unpacked into memory, and refused as a whole when a
 * name in it leads out of it (`path-traversal`), when it unpacks to more than it may, or when it is broken. Links are
 * never followed: they are listed in `leftOut`.
 */
export async function createArchiveVfs(archive: Uint8Array, options: ArchiveVfsOptions = {}): Promise<ArchiveVfs> {
  checkOptionNames("createArchiveVfs", options, { maxBytes: BOUND_OPTION, maxEntries: BOUND_OPTION, signal: true });
  const { maxBytes = DEFAULT_MAX_BYTES, maxEntries = DEFAULT_MAX_ENTRIES, signal } = options;
  signal?.throwIfAborted();
  const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
  const { format, entries } = await open(bytes, maxBytes);
  let modified = 0;
  const tree = createFileTree(maxBytes, () => modified);
  const leftOut: { path: string; reason: string }[] = [];
  let seen = 0;
  let unpacked = 0;
  for (const entry of entries) {
    signal?.throwIfAborted();
    if (++seen > maxEntries) throw archiveTooLarge(entry.name, "maxEntries", maxEntries);
    const path = placeOf(entry.name);
    if ("leftOut" in entry) {
      leftOut.push({ path, reason: entry.leftOut });
      continue;
    }
    unpacked += entry.size;
    if (unpacked > maxBytes) throw archiveTooLarge(path, "maxBytes", maxBytes);
    modified = entry.modified;
    const node: TreeNode = entry.isDir
      ? { type: "folder", children: new Map(), modified }
      : { type: "file", content: Uint8Array.from(await entry.content()), modified };
    put(tree, path, node, format);
  }
  const files = createTreeVfs(tree, { readOnly: true, now: () => modified });
  const everything = await files.glob("**");
  return {
    ...files,
    info: {
      format,
      compressedSize: bytes.byteLength,
      entries: everything.map(({ path, isDir, size = 0 }) => ({ path, isDir, size })),
    },
    leftOut,
  };
}

async function open(
  bytes: Buffer,
  maxBytes: number,
): Promise<{ readonly format: "zip" | "tar" | "tar.gz"; readonly entries: Iterable<ArchivedEntry> }> {
  if (bytes.byteLength >= 4 && ZIP_STARTS.has(bytes.readUInt32LE(0))) return { format: "zip", entries: readZip(bytes) };
  if (bytes.byteLength >= 2 && bytes.readUInt16LE(0) === GZIP) {
    const unpacked = await unzip(bytes, maxBytes);
    if (!isTar(unpacked)) throw brokenArchive("tar.gz", "what is packed in it is no tar");
    return { format: "tar.gz", entries: readTar(unpacked) };
  }
  if (isTar(bytes)) return { format: "tar", entries: readTar(bytes) };
  throw new VfsError({ kind: "unsupported", operation: "read", message: "These bytes are no zip, tar or tar.gz archive." });
}

function unzip(bytes: Buffer, maxBytes: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  gunzip(bytes, { maxOutputLength: maxBytes }, (error, unpacked) => {
    if (error === null) resolve(unpacked);
    else if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") reject(archiveTooLarge("/", "maxBytes", maxBytes));
    else reject(brokenArchive("tar.gz", "it does not unpack", error));
  });
  return promise;
}

/** Where an entry stands. Its name may use neither `..`, nor a root or a drive, nor the separator of Windows to hide them. */
function placeOf(name: string): string {
  requirePossible(name);
  const parts = name.split(/[/\\]/);
  if (/^[/\\]/.test(name) || /^[A-Za-z]:/.test(name) || parts.includes("..")) throw outsideRoot(name, "/");
  return resolveVirtualPath(name, "/");
}

/** A folder may be named again, and a file replaced by a later one, as archives are updated by appending. */
function put(tree: FileTree, path: string, node: TreeNode, format: string): void {
  try {
    const there = tree.find(path);
    if (node.type === "folder" && there?.type === "folder") return;
    if (node.type === "folder" && there?.type === "file") throw notDirectory(path);
    tree.put(path, node);
  } catch (error) {
    if (VfsError.is(error, "is-directory") || VfsError.is(error, "not-directory"))
      throw brokenArchive(format, `${path} is a file and a folder in it`, error);
    throw error;
  }
}
