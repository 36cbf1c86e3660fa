import { readdir } from "node:fs/promises";
import { openDirectory } from "./anchored-directory.ts";
import type { WalkedEntry } from "./searchable-files.ts";
import { vfsErrorFrom } from "./vfs-error-from.ts";

/**
 * Every entry below the folder `start`, depth first, names in ascending order. Links are shown, never followed. `enter`
 * decides whether a folder is walked. One that cannot be read is passed over, except `start` itself.
 */
export async function* walkDisk(
  start: string,
  root: string,
  enter: (relativePath: string) => boolean,
  signal?: AbortSignal,
): AsyncGenerator<WalkedEntry> {
  const pending = await list(start, "", root);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    signal?.throwIfAborted();
    yield next;
    if (!next.isDir || !enter(next.relativePath)) continue;
    try {
      for (const inner of await list(next.path, next.relativePath, root)) pending.push(inner);
    } catch {
      // gone meanwhile, or not ours to read
    }
  }
}

/** Last name first, for a stack. */
async function list(path: string, relativePath: string, root: string): Promise<WalkedEntry[]> {
  try {
    await using folder = await openDirectory(path, root);
    const entries = await readdir(folder.self, { withFileTypes: true });
    return entries
      .sort((a, b) => (a.name < b.name ? 1 : -1))
      .map((entry) => ({
        path: folder.pathOf(entry.name),
        relativePath: relativePath === "" ? entry.name : `${relativePath}/${entry.name}`,
        isDir: entry.isDirectory(),
        isFile: entry.isFile(),
      }));
  } catch (error) {
    throw vfsErrorFrom(error, path);
  }
}
