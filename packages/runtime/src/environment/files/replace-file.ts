import { constants, type Stats } from "node:fs";
import { type FileHandle, link, lstat, open, rename, unlink } from "node:fs/promises";
import { VfsError } from "@keelson/protocol";
import type { AnchoredDirectory, EntryName } from "./anchored-directory.ts";
import { requireWritable } from "./require-writable.ts";
import { temporaryName } from "./temporary-file.ts";
import { systemCode, vfsErrorFrom } from "./vfs-error-from.ts";
import { hardLinked, isDirectory, unexpectedContent } from "./vfs-failures.ts";

export interface Replacement {
  /** Writes the new content and says how many bytes it was. */
  write(file: FileHandle): Promise<number>;
  /** Mode of a file that is made; an existing one keeps its own. Default: what the umask leaves of 0666. */
  readonly mode?: number;
  /** The bytes that must still stand there; `null`: the file must not exist. */
  readonly ifUnchanged?: Uint8Array | null;
}

/**
 * Puts a file in place all or nothing: written beside its place, synced, renamed over it. Whoever reads meanwhile sees
 * the old bytes or the new ones; after a failure the old ones stand and nothing is left behind. Mode and owner are kept.
 */
export async function replaceFile(folder: AnchoredDirectory, name: EntryName, { write, mode, ifUnchanged }: Replacement): Promise<number> {
  const path = folder.pathOf(name);
  const previous = await entryOf(folder.at(name), path);
  if (previous !== undefined) await requireReplaceable(folder, name, previous, path);
  if (ifUnchanged === null && previous !== undefined) throw unexpectedContent(path, "it exists already");

  // Not derived from the name: that may be as long as the file system allows.
  const temporary = folder.at(temporaryName());
  let placed = false;
  try {
    // Until it has the mode of the file it replaces, nobody else may look into it.
    const file = await open(
      temporary,
      constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | constants.O_NOFOLLOW,
      previous === undefined ? 0o666 : 0o600,
    );
    let written: number;
    try {
      written = await write(file);
      if (previous !== undefined) await keepIdentity(file, previous);
      else if (mode !== undefined) await file.chmod(mode & 0o7777);
      await file.sync();
    } finally {
      await file.close();
    }
    if (ifUnchanged === null) {
      placed = await placeNew(temporary, folder.at(name), path);
    } else {
      if (ifUnchanged !== undefined) await requireUnchanged(folder.at(name), path, ifUnchanged);
      await rename(temporary, folder.at(name));
      placed = true;
    }
    return written;
  } catch (error) {
    throw vfsErrorFrom(error, path);
  } finally {
    if (!placed) await unlink(temporary).catch(ignoreMissing);
  }
}

/** What stands at `location`, a link not followed; `undefined` when nothing does. */
export async function entryOf(location: EntryName, path: string): Promise<Stats | undefined> {
  try {
    return await lstat(location);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw vfsErrorFrom(error, path);
  }
}

async function requireReplaceable(folder: AnchoredDirectory, name: EntryName, previous: Stats, path: string): Promise<void> {
  if (previous.isDirectory()) throw isDirectory(path);
  if (!previous.isFile())
    throw new VfsError({ kind: "unsupported", operation: "write", message: `${path} is not a regular file; it is not replaced.` });
  if (previous.nlink > 1) throw hardLinked(path, previous.nlink);
  // A rename asks only for the folder's permission, and would replace a file that is protected against writing.
  await requireWritable(folder.at(name), path);
}

async function keepIdentity(file: FileHandle, previous: Stats): Promise<void> {
  const own = await file.stat();
  if (own.uid !== previous.uid || own.gid !== previous.gid) {
    // Only root may give files away; anyone else keeps the file as their own, as editors do.
    await file.chown(previous.uid, previous.gid).catch((error: unknown) => {
      if (systemCode(error) !== "EPERM") throw error;
    });
  }
  await file.chmod(previous.mode & 0o7777); // after chown, which clears set-id bits
}

/** A hard link never replaces, unlike a rename. Where there are no hard links, a check must do. */
async function placeNew(temporary: string, location: EntryName, path: string): Promise<boolean> {
  try {
    await link(temporary, location);
    return false; // the temporary name goes, the file stays under its new one
  } catch (error) {
    const code = systemCode(error);
    if (code === "EEXIST") throw unexpectedContent(path, "it exists already");
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP" && code !== "EMLINK") throw error;
  }
  if ((await entryOf(location, path)) !== undefined) throw unexpectedContent(path, "it exists already");
  await rename(temporary, location);
  return true;
}

async function requireUnchanged(location: EntryName, path: string, expected: Uint8Array): Promise<void> {
  const file = await open(location, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") throw unexpectedContent(path, "it is gone");
    throw error;
  });
  try {
    const { size } = await file.stat();
    if (size !== expected.byteLength || Buffer.compare(await file.readFile(), expected) !== 0)
      throw unexpectedContent(path, "its content changed");
  } finally {
    await file.close();
  }
}

function ignoreMissing(error: unknown): void {
  if (systemCode(error) !== "ENOENT") throw error;
}
