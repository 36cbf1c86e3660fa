import { constants } from "node:fs";
import { access, open } from "node:fs/promises";
import type { EntryName } from "./anchored-directory.ts";
import { systemCode, vfsErrorFrom } from "./vfs-error-from.ts";

// Linux: a descriptor of the file itself, that can neither read nor write (open(2)). Node has no name for it.
const O_PATH = 0o10000000;

/**
 * Rejects with `permission-denied` when the file at `location` is protected against writing, as a rename would replace it all
 * the same. On Linux it is this file that is asked about, also when it is swapped for a link meanwhile.
 * @param path what it is called in errors
 */
export async function requireWritable(location: EntryName, path: string): Promise<void> {
  try {
    if (process.platform !== "linux") return await access(location, constants.W_OK);
    const file = await open(location, O_PATH | constants.O_NOFOLLOW);
    try {
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
