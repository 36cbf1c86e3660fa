import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** A tree of files as text, one line an entry: type, permissions, and content. */
export type Tree = ReadonlyMap<string, string>;

/** Reads all entries below a folder, bytes and permissions included. Objects of git are not compared: undo never deletes them. */
export function readTree(root: string): Tree {
  const tree = new Map<string, string>();
  const visit = (path: string, shown: string): void => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return;
    const mode = (stats.mode & 0o7777).toString(8);
    if (stats.isSymbolicLink()) tree.set(shown, `link ${readlinkSync(path)}`);
    else if (stats.isFile()) tree.set(shown, `file ${mode} ${readFileSync(path).toString("base64")}`);
    else if (stats.isDirectory()) {
      tree.set(shown, `folder ${mode}`);
      for (const name of readdirSync(path)) {
        const below = shown === "" ? name : `${shown}/${name}`;
        if (/(^|\/)\.git\/(.*\/)?objects$/.test(below) || below.endsWith(".lock")) continue;
        visit(join(path, name), below);
      }
    } else tree.set(shown, "other");
  };
  visit(root, "");
  return tree;
}

/** Returns what differs between two trees, for a message. */
export function differences(expected: Tree, found: Tree): readonly string[] {
  const paths = [...new Set([...expected.keys(), ...found.keys()])].toSorted();
  return paths.flatMap((path) => {
    const [a, b] = [expected.get(path), found.get(path)];
    return a === b ? [] : [`${path}: expected ${a?.slice(0, 60) ?? "nothing"}, found ${b?.slice(0, 60) ?? "nothing"}`];
  });
}
