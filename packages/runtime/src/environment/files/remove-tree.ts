import { readdir, rmdir, unlink } from "node:fs/promises";
import { type AnchoredDirectory, type EntryName, openChild } from "./anchored-directory.ts";
import { vfsErrorFrom } from "./vfs-error-from.ts";

/** Removes a file, a link (never what it leads to), or a folder with all it holds. */
export async function removeTree(
  folder: AnchoredDirectory,
  name: EntryName,
  isFolder: boolean,
  root: string,
  signal?: AbortSignal,
): Promise<void> {
  signal?.throwIfAborted();
  try {
    if (!isFolder) return await unlink(folder.at(name));
    await removeContent(folder, name, root, signal);
    await rmdir(folder.at(name));
  } catch (error) {
    signal?.throwIfAborted();
    throw vfsErrorFrom(error, folder.pathOf(name));
  }
}

async function removeContent(folder: AnchoredDirectory, name: EntryName, root: string, signal?: AbortSignal): Promise<void> {
  await using inner = await openChild(folder, name, root);
  for (const entry of await readdir(inner.self, { withFileTypes: true, encoding: "buffer" }))
    await removeTree(inner, entry.name, entry.isDirectory(), root, signal);
}
