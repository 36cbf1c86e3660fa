import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { joinPath } from "../files/virtual-path.ts";
import { atEntry, leadsNowhere } from "./anchored-entry.ts";
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
    async list(path) {
      try {
        return await tree.list(whole(path));
      } catch (error) {
        if (leadsNowhere(error)) return [];
        throw error;
      }
    },
    held: (path) => tree.listUpper(whole(path)),
    async reach(path, use) {
      const found = await tree.find(whole(path));
      return found?.isUpper === false ? atEntry(base, whole(path), use) : use(tree.upper(whole(path)));
    },
    at: async (path) => (await tree.find(whole(path)))?.location ?? tree.upper(whole(path)),
    async [Symbol.asyncDispose]() {},
  };
}
