import type { FileTree } from "../files/file-tree.ts";
import { joinPath } from "../files/virtual-path.ts";
import type { SearchFolder } from "./searchable-files.ts";

/** Opens a folder in memory. */
export function openTreeFolder(tree: FileTree, path: string): SearchFolder {
  const { children } = tree.requireFolder(path);
  const contentOf = (name: string): Uint8Array => tree.requireFile(joinPath(path, name)).content;
  return {
    path,
    entries: [...children].map(([name, { type }]) => ({ name, kind: type })).sort((a, b) => (a.name < b.name ? -1 : 1)),
    open: (name) => openTreeFolder(tree, joinPath(path, name)),
    read: contentOf,
    readWhole: async (name) => contentOf(name),
    async *pieces(name) {
      yield contentOf(name);
    },
    sizeOf(name) {
      const node = tree.find(joinPath(path, name));
      return node?.type === "file" ? node.content.byteLength : undefined;
    },
    close() {},
  };
}
