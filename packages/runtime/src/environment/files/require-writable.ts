import { constants, type Stats } from "node:fs";
import { access, lstat, open } from "node:fs/promises";
import { VfsError } from "@keelson/protocol";
import type { EntryName } from "./anchored-directory.ts";
import { systemCode, vfsErrorFrom } from "./vfs-error-from.ts";

// Linux: a descriptor of the file itself, that can neither read nor write (open(2)). Node has no name for it.
const O_PATH = 0o10000000;

/**
 * Rejects with `permission-denied` when the file at `location` is protected against writing, as a rename would replace it all
 * the same. A mode without a right to write counts for the superuser, too. On Linux it is this file that is asked about, also
 * when it is swapped for a link meanwhile.
 * @param path the name of the file in errors
 */
export async function requireWritable(location: EntryName, path: string): Promise<void> {
  try {
    if (process.platform !== "linux") {
      requireWriteBit(await lstat(location), path);
      return await access(location, constants.W_OK);
    }
    const file = await open(location, O_PATH | constants.O_NOFOLLOW);
    try {
      requireWriteBit(await file.stat(), path);
      // Through the descriptor of a link access(2) sees the link, which anybody may write; it is not followed.
      await access(`/proc/self/fd/${file.fd}`, constants.W_OK);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (systemCode(error) === "ENOENT") return; // gone meanwhile: nothing is replaced
    throw vfsErrorFrom(error, path);
  }
}

function requireWriteBit({ mode }: Stats, path: string): void {
  if ((mode & 0o222) !== 0) return;
  throw new VfsError({
    kind: "permission-denied",
    path,
    message: `${path} is read-only (mode ${(mode & 0o777).toString(8)}); it was not changed. If it should be, make it writable first: chmod u+w.`,
  });
}
