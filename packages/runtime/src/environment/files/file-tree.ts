import { VfsError } from "@keelson/protocol";
import { isDirectory, notDirectory, notFound } from "./vfs-failures.ts";
import { namesOf } from "./virtual-path.ts";

export interface TreeFile {
  readonly type: "file";
  /** Never changed in place. */
  readonly content: Uint8Array;
  readonly modified: number;
}
export interface TreeFolder {
  readonly type: "folder";
  readonly children: Map<string, TreeNode>;
  modified: number;
}
export type TreeNode = TreeFile | TreeFolder;

/** Files in memory, by absolute, normalised path. What is put there counts against `maxBytes`. */
export interface FileTree {
  /** What stands at the path, if anything. A file where a folder is needed on the way is `not-directory`. */
  find(path: string): TreeNode | undefined;
  require(path: string): TreeNode;
  requireFile(path: string): TreeFile;
  requireFolder(path: string): TreeFolder;
  /** Puts a file or a folder there, its missing parents made. A folder in the way of a file is `is-directory`. */
  put(path: string, node: TreeNode): void;
  remove(path: string): void;
  /** Moves what stands at `from`, over a file that may stand at `to`. */
  move(from: string, to: string): void;
}

export function createFileTree(maxBytes: number, now: () => number): FileTree {
  const root: TreeFolder = { type: "folder", children: new Map(), modified: now() };
  let bytes = 0;

  function find(path: string): TreeNode | undefined {
    let node: TreeNode | undefined = root;
    for (const name of namesOf(path)) {
      if (node?.type === "file") throw notDirectory(path);
      node = node?.children.get(name);
      if (node === undefined) return undefined;
    }
    return node;
  }
  function require(path: string): TreeNode {
    const node = find(path);
    if (node === undefined) throw notFound(path);
    return node;
  }
  /** The folder that holds `path`, made when it is missing, and the last name. */
  function parentFor(path: string): { folder: TreeFolder; name: string } {
    const names = namesOf(path);
    const name = names.pop();
    if (name === undefined) throw isDirectory(path);
    let folder = root;
    for (const part of names) {
      let next = folder.children.get(part);
      if (next?.type === "file") throw notDirectory(path);
      if (next === undefined) {
        next = { type: "folder", children: new Map(), modified: now() };
        folder.children.set(part, next);
      }
      folder = next;
    }
    return { folder, name };
  }
  function requireRoom(path: string, needed: number): void {
    if (needed > maxBytes)
      throw new VfsError({
        kind: "resource-limit",
        path,
        limit: "maxBytes",
        message: `${path} does not fit: all files together would have ${needed} bytes, more than ${maxBytes}. Remove some, or allow more.`,
      });
  }
  const detach = (path: string): void => {
    const { folder, name } = parentFor(path);
    folder.children.delete(name);
    folder.modified = now();
  };

  return {
    find,
    require,
    requireFile(path) {
      const node = require(path);
      if (node.type === "folder") throw isDirectory(path);
      return node;
    },
    requireFolder(path) {
      const node = require(path);
      if (node.type === "file") throw notDirectory(path);
      return node;
    },
    put(path, node) {
      const previous = find(path);
      if (previous?.type === "folder") throw isDirectory(path);
      const total = bytes + sizeOf(node) - (previous === undefined ? 0 : sizeOf(previous));
      requireRoom(path, total);
      const { folder, name } = parentFor(path);
      folder.children.set(name, node);
      folder.modified = now();
      bytes = total;
    },
    remove(path) {
      bytes -= sizeOf(require(path));
      detach(path);
    },
    move(from, to) {
      const node = require(from);
      const previous = find(to);
      if (previous?.type === "folder") throw isDirectory(to);
      if (previous !== undefined && node.type === "folder") throw notDirectory(to);
      const target = parentFor(to);
      if (previous !== undefined) bytes -= sizeOf(previous);
      detach(from);
      target.folder.children.set(target.name, node);
      target.folder.modified = now();
    },
  };
}

/** A folder with all it holds, or a file. Content is shared: nobody changes it in place. */
export function copyNode(node: TreeNode, now: () => number): TreeNode {
  if (node.type === "file") return { ...node, modified: now() };
  const children = new Map([...node.children].map(([name, child]) => [name, copyNode(child, now)] as const));
  return { type: "folder", children, modified: now() };
}

/** Bytes of the content of all files in it. */
export function sizeOf(node: TreeNode): number {
  if (node.type === "file") return node.content.byteLength;
  let total = 0;
  for (const child of node.children.values()) total += sizeOf(child);
  return total;
}
