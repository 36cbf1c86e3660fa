import { constants } from "node:fs";
import { type FileHandle, lstat, open, readdir, readlink, symlink } from "node:fs/promises";
import { VfsError } from "@keelson/protocol";
import { type AnchoredDirectory, ensureDirectory, type EntryName, openChild } from "./anchored-directory.ts";
import { entryOf, replaceFile } from "./replace-file.ts";
import { systemCode, vfsErrorFrom } from "./vfs-error-from.ts";
import { folderInTheWay } from "./vfs-failures.ts";

const CHUNK_BYTES = 1024 * 1024;

/**
 * Copies a file, a link as a link, or a folder with all it holds, and returns the bytes of file content. A file in the
 * way is replaced; a folder in the way of a file is not, and folders are merged only with ones made on the way.
 */
export async function copyTree(
  from: AnchoredDirectory,
  fromName: EntryName,
  to: AnchoredDirectory,
  toName: EntryName,
  root: string,
  signal?: AbortSignal,
): Promise<number> {
  signal?.throwIfAborted();
  const path = from.pathOf(fromName);
  const target = to.pathOf(toName);
  try {
    const stats = await lstat(from.at(fromName));
    if (stats.isDirectory()) {
      if ((await entryOf(to.at(toName), target)) !== undefined) throw folderInTheWay(target);
      await using source = await openChild(from, fromName, root);
      await using made = await ensureDirectory(to, toName, root);
      let bytes = 0;
      for (const name of await readdir(source.self, { encoding: "buffer" }))
        bytes += await copyTree(source, name, made, name, root, signal);
      return bytes;
    }
    if (stats.isSymbolicLink()) {
      await symlink(await readlink(from.at(fromName), { encoding: "buffer" }), to.at(toName));
      return 0;
    }
    if (!stats.isFile())
      throw new VfsError({
        kind: "unsupported",
        operation: "cp",
        message: `${path} is neither a file nor a folder (a pipe, socket or device).`,
      });
    const source = await open(from.at(fromName), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      return await replaceFile(to, toName, { mode: stats.mode, write: (file) => copyContent(source, file, signal) });
    } finally {
      await source.close();
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw vfsErrorFrom(error, systemCode(error) === "EEXIST" ? target : path);
  }
}

async function copyContent(source: FileHandle, target: FileHandle, signal?: AbortSignal): Promise<number> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let copied = 0; ;) {
    signal?.throwIfAborted();
    const { bytesRead } = await source.read(buffer, 0, CHUNK_BYTES);
    if (bytesRead === 0) return copied;
    for (let written = 0; written < bytesRead;) written += (await target.write(buffer, written, bytesRead - written)).bytesWritten;
    copied += bytesRead;
  }
}
