import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { joinPath } from "../files/virtual-path.ts";
import { createLayeredTree } from "./layered-tree.ts";
import { createLayeredVfs } from "./layered-vfs.ts";
import type { OverlayLayer } from "./overlay-layer.ts";

/** A layer that only `files` writes to: works on every system, and for no command. */
export function createLayeredLayer(base: string, folder: string, maxReadBytes: number): OverlayLayer {
  const upper = join(folder, "upper");
  mkdirSync(upper, { recursive: true });
  const tree = createLayeredTree(base, upper, join(folder, "gone.jsonl"));
  const whole = (path: string): string => joinPath(base, path);
  const files = createLayeredVfs(tree, upper, maxReadBytes);
  return {
    root: base,
    files,
    resolve: async (path, asEntry) => (asEntry ? tree.resolveEntry : tree.resolve)(path, await files.pwd()),
    list: (path) => tree.list(whole(path)),
    held: (path) => tree.listUpper(whole(path)),
    at: async (path) => (await tree.find(whole(path)))?.location ?? tree.upper(whole(path)),
    async [Symbol.asyncDispose]() {},
  };
}
