import { constants } from "node:fs";
import { copyFile, open } from "node:fs/promises";
import { basename, dirname } from "node:path/posix";
import type { Readable } from "node:stream";
import { VfsError } from "@keelson/protocol";
import { openDirectory } from "../files/anchored-directory.ts";
import { systemCode } from "../files/vfs-error-from.ts";

// Others work in the base meanwhile, and may put a link where a folder or file was. What an overlay looks at there it reaches
// through folders it holds open, and it opens no link.

/**
 * Gives `use` a place on the disk for what stands at `path` of the base, a real path.
 * @throws VfsError that `leadsNowhere` when there is no folder, or a link, on the way
 */
export async function withBaseEntry<T>(base: string, path: string, use: (location: string) => Promise<T>): Promise<T> {
  if (path === base) return use(base);
  await using folder = await openDirectory(dirname(path), base);
  return await use(folder.at(basename(path))); // the folder is open until then
}

/** As `withBaseEntry`; `undefined` where no folder leads there, or a link was put there while it was looked at. */
export async function atBaseEntry<T>(base: string, path: string, use: (location: string) => Promise<T>): Promise<T | undefined> {
  try {
    return await withBaseEntry(base, path, use);
  } catch (error) {
    if (leadsNowhere(error) || systemCode(error) === "ELOOP") return undefined;
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
