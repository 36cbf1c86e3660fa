import { folderOf } from "./system-path.ts";
import type { ProjectStore } from "./project-store.ts";
import { readEntry } from "./take-snapshot.ts";
import type { IndexEntry } from "./tree-index.ts";

/** Takes the present state of paths into the index, so that the next snapshot finds no change there. The caller holds the lock. */
export function updateIndex(store: ProjectStore, paths: readonly string[]): void {
  const index = store.index();
  if (index === undefined || paths.length === 0) return;
  const entries = new Map(index.entries);
  for (const path of paths) {
    const entry: IndexEntry | undefined = readEntry(store.parts, path);
    if (entry === undefined) entries.delete(path);
    else if (entries.has(path) || entries.get(folderOf(path))?.state.type === "folder") entries.set(path, entry);
  }
  store.keepIndex({ ...index, entries }, true);
}
