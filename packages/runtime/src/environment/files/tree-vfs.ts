import type { DirEntry, FileInfo, Vfs, VfsCapability } from "@keelson/protocol";
import { editBytes, requireOldText } from "./edit-bytes.ts";
import { copyNode, type FileTree, sizeOf, type TreeNode } from "./file-tree.ts";
import { mimeTypeOf } from "./file-type.ts";
import { refusedTransfers } from "./refused-transfers.ts";
import type { SearchableFiles } from "../search/searchable-files.ts";
import { globFiles, grepFiles } from "../search/search-files.ts";
import { openTreeFolder } from "../search/tree-folder.ts";
import {
  folderInTheWay,
  intoItself,
  isDirectory,
  needsRecursive,
  ontoItself,
  rootStays,
  unexpectedContent,
  unsupported,
} from "./vfs-failures.ts";
import { isWithin, joinPath, resolveVirtualPath } from "./virtual-path.ts";
import { withTimeoutErrors } from "./with-timeout-errors.ts";
import { checkMethodOptions } from "../../json/check-method-options.ts";
import { VFS_METHODS } from "../../json/interface-methods.ts";

const READING: readonly VfsCapability[] = ["ls", "read", "grep", "glob", "pwd", "cd"];
const WRITING: readonly VfsCapability[] = ["write", "edit", "rm", "cp", "mv"];

/** What a tree in memory is to those who work with files: `/` is its root, and it starts there. */
export function createTreeVfs(tree: FileTree, { readOnly, now }: { readonly readOnly: boolean; readonly now: () => number }): Vfs {
  let workingDirectory = "/";
  const resolve = (path: string): string => resolveVirtualPath(path, workingDirectory);
  const requireWritable = (operation: VfsCapability): void => {
    if (readOnly) throw unsupported(operation, `This file system is read-only: ${operation} is not possible.`);
  };
  const file = (content: Uint8Array): TreeNode => ({ type: "file", content, modified: now() });
  const searchable: SearchableFiles = {
    rootOf: () => "/",
    isFolder: async (path) => tree.require(path).type === "folder",
    openFolder: (path) => openTreeFolder(tree, path),
  };

  const files: Vfs = withTimeoutErrors({
    capabilities: new Set(readOnly ? READING : [...READING, ...WRITING]),
    root: "/",

    async ls(path, { signal } = {}) {
      signal?.throwIfAborted();
      const folder = resolve(path);
      return namesIn(tree.requireFolder(folder).children).map((name) => describe(folder, name, tree));
    },

    async stat(path, { signal } = {}): Promise<FileInfo> {
      signal?.throwIfAborted();
      const place = resolve(path);
      const node = tree.require(place);
      return {
        path: place,
        size: node.type === "file" ? node.content.byteLength : 0,
        isDir: node.type === "folder",
        isSymlink: false,
        modified: node.modified,
      };
    },

    async read(path, { signal } = {}) {
      signal?.throwIfAborted();
      const place = resolve(path);
      const mimeType = mimeTypeOf(place);
      return { content: Uint8Array.from(tree.requireFile(place).content), ...(mimeType !== undefined && { mimeType }) };
    },

    async readPart(path, { start, end, signal }) {
      signal?.throwIfAborted();
      const place = resolve(path);
      const mimeType = mimeTypeOf(place);
      return {
        content: Uint8Array.from(tree.requireFile(place).content.subarray(start, end)),
        ...(mimeType !== undefined && { mimeType }),
      };
    },

    async write(path, content, { signal, ifUnchanged } = {}) {
      requireWritable("write");
      signal?.throwIfAborted();
      const place = resolve(path);
      const bytes = typeof content === "string" ? Buffer.from(content, "utf8") : Uint8Array.from(content);
      const previous = tree.find(place);
      if (previous?.type === "folder") throw isDirectory(place);
      if (ifUnchanged === null && previous !== undefined) throw unexpectedContent(place, "it exists already");
      if (ifUnchanged != null && previous === undefined) throw unexpectedContent(place, "it is gone");
      if (ifUnchanged != null && previous !== undefined && Buffer.compare(previous.content, ifUnchanged) !== 0)
        throw unexpectedContent(place, "its content changed");
      tree.put(place, file(bytes));
      return { path: place, bytesWritten: bytes.byteLength };
    },

    async edit(path, oldText, newText, { signal } = {}) {
      requireWritable("edit");
      signal?.throwIfAborted();
      requireOldText(path, oldText);
      const place = resolve(path);
      const edited = editBytes(place, tree.requireFile(place).content, oldText, newText);
      if (edited === undefined) return { path: place, editsApplied: 0 };
      tree.put(place, file(edited.bytes));
      return edited.result;
    },

    async grep(pattern, options = {}) {
      return grepFiles(searchable, resolve(options.path ?? "."), pattern, options);
    },

    async glob(pattern, options = {}) {
      return globFiles(searchable, resolve(options.path ?? "."), pattern, options);
    },

    ...refusedTransfers({
      upload: "These files are in memory: use write, or createTransferVfs.",
      download: "These files are in memory: use read, or createTransferVfs.",
    }),

    pwd: async () => workingDirectory,

    async cd(path) {
      const place = resolve(path);
      tree.requireFolder(place);
      workingDirectory = place;
    },

    async rm(path, { recursive = false, signal } = {}) {
      requireWritable("rm");
      signal?.throwIfAborted();
      const place = resolve(path);
      if (place === "/") throw rootStays(place);
      if (tree.require(place).type === "folder" && !recursive) throw needsRecursive(place);
      tree.remove(place);
    },

    async cp(from, to, { signal } = {}) {
      requireWritable("cp");
      signal?.throwIfAborted();
      const source = resolve(from);
      const target = resolve(to);
      if (target === "/") throw rootStays(target);
      if (source === target) throw ontoItself(source);
      const node = tree.require(source);
      if (isWithin(source, target)) throw intoItself(source, target);
      if (node.type === "folder" && tree.find(target) !== undefined) throw folderInTheWay(target);
      tree.put(target, copyNode(node, now));
      return { path: target, bytesTransferred: sizeOf(node) };
    },

    async mv(from, to, { signal } = {}) {
      requireWritable("mv");
      signal?.throwIfAborted();
      const source = resolve(from);
      const target = resolve(to);
      if (source === "/" || target === "/") throw rootStays("/");
      const node = tree.require(source);
      if (source !== target) {
        if (isWithin(source, target)) throw intoItself(source, target);
        tree.move(source, target);
      }
      return { path: target, bytesTransferred: node.type === "file" ? node.content.byteLength : 0 };
    },
  });
  return checkMethodOptions("files", files, VFS_METHODS);
}

function namesIn(children: ReadonlyMap<string, TreeNode>): string[] {
  return [...children.keys()].sort();
}

function describe(folder: string, name: string, tree: FileTree): DirEntry {
  const path = joinPath(folder, name);
  const node = tree.require(path);
  return {
    name,
    path,
    isDir: node.type === "folder",
    ...(node.type === "file" && { size: node.content.byteLength }),
    modified: node.modified,
  };
}
