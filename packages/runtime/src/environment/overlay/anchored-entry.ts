import { constants } from "node:fs";
import { copyFile, open, readdir } from "node:fs/promises";
import { basename, dirname } from "node:path/posix";
import type { Readable } from "node:stream";
import { VfsError } from "@keelson/protocol";
import { openDirectory } from "../files/anchored-directory.ts";
import { type DiskView, OWN_VIEW } from "../files/disk-view.ts";
import { systemCode } from "../files/vfs-error-from.ts";

// Others work in the base meanwhile, and commands in the overlay: they may put a link where a folder or file was. What an overlay looks at
// in either it reaches through folders it holds open, and it opens no link.

/**
 * Gives `use` a place on the disk for what stands at `path` in `root`, a real path.
 * @throws VfsError that `leadsNowhere` when there is no folder, or a link, on the way
 */
export async function withEntry<T>(
  root: string,
  path: string,
  use: (location: string) => Promise<T>,
  disk: DiskView = OWN_VIEW,
): Promise<T> {
  if (path === root) return use(disk.locate(root));
  await using folder = await openDirectory(dirname(path), root, disk);
  return await use(folder.at(basename(path))); // the folder is open until then
}

/** As `withEntry`; `undefined` where no folder leads there, or a link was put there while it was looked at. */
export async function atEntry<T>(
  root: string,
  path: string,
  use: (location: string) => Promise<T>,
  disk: DiskView = OWN_VIEW,
): Promise<T | undefined> {
  try {
    return await withEntry(root, path, use, disk);
  } catch (error) {
    if (leadsNowhere(error) || systemCode(error) === "ELOOP") return undefined;
    throw error;
  }
}

/** Names in a folder; none where there is none, or none any more. */
export async function namesIn(root: string, path: string, disk: DiskView = OWN_VIEW): Promise<string[]> {
  try {
    await using folder = await openDirectory(path, root, disk);
    return await readdir(folder.self);
  } catch (error) {
    if (leadsNowhere(error)) return [];
    throw error;
  }
}

/** `undefined` where what was to be read was removed, or replaced by something else, since it was seen. */
export async function unlessReplaced<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EISDIR", "ELOOP", "EINVAL"].includes(systemCode(error) ?? "")) return undefined;
    throw error;
  }
}

/** Whether it failed because there is nothing at the path. */
export function leadsNowhere(error: unknown): boolean {
  return VfsError.is(error) && ["not-found", "not-directory", "path-traversal"].includes(error.failure.kind);
}

const READ_NO_LINK = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Copies a file to a new place, its mode with it; rejects with the system's ELOOP for a link. */
export async function copyOriginal(location: string, target: string): Promise<void> {
  const file = await open(location, READ_NO_LINK);
  try {
    const source = process.platform === "linux" ? `/proc/self/fd/${file.fd}` : location;
    await copyFile(source, target, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  } finally {
    await file.close();
  }
}

/** The bytes of a file; rejects with the system's ELOOP for a link. */
export async function readOriginal(location: string): Promise<Readable> {
  return (await open(location, READ_NO_LINK)).createReadStream();
}
