import type { Dirent } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import type { DirEntry } from "@keelson/protocol";
import { type AnchoredDirectory, openDirectory } from "./anchored-directory.ts";
import type { DiskView } from "./disk-view.ts";
import { systemCode, vfsErrorFrom } from "./vfs-error-from.ts";

// Enough to keep the disk busy, few enough to leave file descriptors to others.
const PARALLEL_STATS = 64;

/**
 * What a folder holds, by name.
 * @param leadsToFolder whether a link leads to a folder inside the roots
 */
export async function listDirectory(
  real: string,
  root: string,
  disk: DiskView,
  leadsToFolder: (path: string) => Promise<boolean>,
  signal?: AbortSignal,
): Promise<DirEntry[]> {
  await using folder = await openDirectory(real, root, disk);
  const entries = await readdir(folder.self, { withFileTypes: true }).catch((error: unknown) => {
    throw vfsErrorFrom(error, real);
  });
  entries.sort(byName);
  const results: DirEntry[] = [];
  for (let from = 0; from < entries.length; from += PARALLEL_STATS) {
    signal?.throwIfAborted();
    const part = await Promise.all(entries.slice(from, from + PARALLEL_STATS).map((entry) => describeEntry(folder, entry, leadsToFolder)));
    for (const entry of part) if (entry !== undefined) results.push(entry);
  }
  return results;
}

async function describeEntry(
  folder: AnchoredDirectory,
  entry: Dirent,
  leadsToFolder: (path: string) => Promise<boolean>,
): Promise<DirEntry | undefined> {
  const path = folder.pathOf(entry.name);
  try {
    const stats = await lstat(folder.at(entry.name));
    const isDir = stats.isSymbolicLink() ? await leadsToFolder(path) : stats.isDirectory();
    return { name: entry.name, path, isDir, ...(stats.isFile() && { size: stats.size }), modified: Math.trunc(stats.mtimeMs) };
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined; // removed since the folder was listed
    throw vfsErrorFrom(error, path);
  }
}

function byName(a: Dirent, b: Dirent): number {
  return a.name < b.name ? -1 : 1;
}
