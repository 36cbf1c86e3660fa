import { join } from "node:path/posix";
import type { ListedEntry, SearchFolder } from "../search/searchable-files.ts";
import type { LayeredTree } from "./layered-tree.ts";

/** Reads the files of a layered tree, by path. */
export interface LayeredReads {
  whole(path: string, signal?: AbortSignal): Promise<Uint8Array>;
  pieces(path: string, maxBytes: number, signal?: AbortSignal): AsyncIterable<Uint8Array>;
}

// The same bound as on a disk. A larger file is read in pieces.
const SMALL_BYTES = 1024 * 1024;

/** Opens a folder of a layered tree for a search. */
export async function openLayeredFolder(tree: LayeredTree, path: string, reads: LayeredReads): Promise<SearchFolder> {
  const entries: ListedEntry[] = [];
  const sizes = new Map<string, number>();
  for (const name of await tree.list(path)) {
    const entry = await tree.find(join(path, name));
    if (entry === undefined) continue;
    const { stats } = entry;
    entries.push({ name, kind: stats.isDirectory() ? "folder" : stats.isFile() ? "file" : "other" });
    if (stats.isFile()) sizes.set(name, stats.size);
  }
  return {
    path,
    entries,
    open: (name) => openLayeredFolder(tree, join(path, name), reads),
    read: async (name, signal) => ((sizes.get(name) ?? 0) > SMALL_BYTES ? "large" : reads.whole(join(path, name), signal)),
    readWhole: (name, signal) => reads.whole(join(path, name), signal),
    pieces: (name, maxBytes, signal) => reads.pieces(join(path, name), maxBytes, signal),
    sizeOf: (name) => sizes.get(name),
    close() {},
  };
}
