import { join } from "node:path/posix";
import type { SearchableFiles, WalkedEntry, WalkPlan } from "../files/searchable-files.ts";
import type { LayeredTree } from "./layered-tree.ts";

interface WalkedTree {
  readonly tree: LayeredTree;
  readonly read: SearchableFiles["read"];
}

/** Every entry below the folder `start`, each folder before what is in it, names in ascending order. */
export async function* walkLayers(
  walked: WalkedTree,
  start: string,
  { enter }: WalkPlan,
  signal?: AbortSignal,
): AsyncGenerator<WalkedEntry> {
  const pending = await entriesIn(walked, start, "");
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    signal?.throwIfAborted();
    yield next;
    if (!next.isDir || !enter(next.relativePath)) continue;
    try {
      pending.push(...(await entriesIn(walked, next.path, next.relativePath)));
    } catch {
      // gone meanwhile, or not ours to read
    }
  }
}

/** Last name first, for a stack. */
async function entriesIn({ tree, read }: WalkedTree, folder: string, relativePath: string): Promise<WalkedEntry[]> {
  const entries: WalkedEntry[] = [];
  for (const name of (await tree.list(folder)).reverse()) {
    const entry = await tree.find(join(folder, name));
    if (entry === undefined) continue;
    const isDir = entry.stats.isDirectory();
    entries.push({
      path: entry.path,
      relativePath: relativePath === "" ? name : `${relativePath}/${name}`,
      isDir,
      isFile: entry.stats.isFile(),
      ...(entry.stats.isFile() && { size: entry.stats.size }),
      read: (signal) => read(entry.path, signal),
    });
  }
  return entries;
}
