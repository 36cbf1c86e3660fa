import type { Dirent } from "node:fs";
import { readdir, readFile, rm, rmdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isDeadOwner } from "../../platform/process-owner.ts";

/** What a killed process leaves of a file that it was about to put in place. */
const DRAFT = /\.(?:json|md)\.[0-9a-f]{12}$/;
/** What it leaves of a lock that it was about to take, or to take over. */
const LOCK_DRAFT = /^\.lock(?:\.(?:[0-9a-f]{12}|[0-9a-f]{16}))+$/;
/** Such a file is there for milliseconds. Longer than this nobody waits on a disk. */
const ABANDONED_AFTER_MS = 10 * 60_000;

/** Whether a file may have been left behind; those of processes that live have the same names. */
export function mayBeLeftBehind(entry: Dirent): boolean {
  return entry.isFile() && (DRAFT.test(entry.name) || LOCK_DRAFT.test(entry.name));
}

/** Removes what killed processes left among the entries of a scope's folder. For who holds its lock alone: others' drafts of keys are in use by nobody then. */
export async function removeLeftBehind(folder: string, entries: readonly Dirent[]): Promise<void> {
  for (const entry of entries.filter(mayBeLeftBehind)) {
    const path = join(entry.parentPath, entry.name);
    if (DRAFT.test(entry.name) || (await isAbandoned(path))) await removeWithFolders(path, folder);
  }
}

/** Removes what killed processes left of one key's file. For who holds the lock of its scope alone. */
export async function removeDraftsOf(path: string): Promise<void> {
  const [above, name] = [dirname(path), basename(path)];
  for (const found of await namesIn(above))
    if (found.startsWith(`${name}.`) && DRAFT.test(found)) await rm(join(above, found), { force: true });
}

/** Removes a file, and the folders above it that are empty then, up to `folder`, which stays. */
export async function removeWithFolders(path: string, folder: string): Promise<void> {
  await rm(path, { force: true });
  for (let above = dirname(path); above !== folder && (await removeEmpty(above)); above = dirname(above));
}

/** One that was about to take a lock waits for it without holding any: whether it lives stands in the file. */
async function isAbandoned(path: string): Promise<boolean> {
  try {
    return isDeadOwner((await readFile(path, "utf8")).trim()) || Date.now() - (await stat(path)).mtimeMs > ABANDONED_AFTER_MS;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw error;
  }
}

/** @returns false where something is in it */
async function removeEmpty(folder: string): Promise<boolean> {
  try {
    await rmdir(folder);
    return true;
  } catch {
    return false;
  }
}
