import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path/posix";
import { replacePrivateFile } from "../../platform/private-file.ts";
import { openDirectory } from "../files/anchored-directory.ts";
import { createDiskVfs } from "../files/disk-vfs.ts";
import { OWN_PLACE } from "../sandbox/sandbox-place.ts";
import { statsOf } from "./base-states.ts";
import { COMMIT_FOLDER } from "./commit-folder.ts";
import { copyFolder } from "./copy-folder.ts";
import type { OverlayLayer } from "./overlay-layer.ts";
import { resolveEntry } from "./resolve-entry.ts";

/** What tells whether something of the copy was changed: the kernel sets the time of the last change, and no program can. */
interface Copied {
  /** When the copying began, as the kernel tells times. */
  readonly sinceMs: number;
  /** Inode and time of the last change of everything in the copy, by its path. */
  readonly entries: { readonly [path: string]: readonly [inode: number, changedMs: number] };
}

/** A layer that is a whole copy of the base: any program can write to it, and it costs what the base does. */
export async function createCopiedLayer(base: string, folder: string, maxReadBytes: number): Promise<OverlayLayer> {
  const root = join(folder, "copy");
  const { sinceMs, entries } = await copyOnce(base, root, folder);
  const files = createDiskVfs({ root, maxReadBytes });

  return {
    root,
    files,
    commands: { folder: root, place: OWN_PLACE },
    unsureSinceMs: sinceMs,
    showed: (path) => Object.hasOwn(entries, path),
    resolve: async (path, asEntry) => (asEntry ? resolveEntry(files, path) : files.resolve(path)),
    list: (path) => readdir(join(root, path)),
    async held(path) {
      const held: string[] = [];
      for (const name of await readdir(join(root, path))) {
        const inner = path === "" ? name : `${path}/${name}`;
        const stats = await statsOf(join(root, inner));
        if (stats === undefined) continue; // removed since the folder was listed
        const [inode, changedMs] = entries[inner] ?? [];
        if (stats.isDirectory() || stats.ino !== inode || stats.ctimeMs !== changedMs) held.push(name);
      }
      return held;
    },
    at: async (path) => join(root, path),
    async [Symbol.asyncDispose]() {},
  };
}

/** Copies the base, unless that was done and finished. */
async function copyOnce(base: string, root: string, folder: string): Promise<Copied> {
  const list = join(folder, "copied.json");
  const text = await readFile(list, "utf8").catch(() => undefined);
  if (text !== undefined) return JSON.parse(text) as Copied;
  await rm(root, { recursive: true, force: true });
  const marker = join(folder, "copying");
  await writeFile(marker, "");
  const { ctimeMs: sinceMs } = await stat(marker);
  await mkdir(root);
  {
    await using from = await openDirectory(base, base);
    await using to = await openDirectory(root, root);
    await copyFolder(from, to, { root: base, leaveOut: (name) => name.startsWith(COMMIT_FOLDER) });
  }
  const entries: { [path: string]: readonly [number, number] } = {};
  const visit = async (path: string): Promise<void> => {
    for (const name of await readdir(join(root, path))) {
      const inner = path === "" ? name : `${path}/${name}`;
      const stats = await statsOf(join(root, inner));
      if (stats === undefined) continue;
      entries[inner] = [stats.ino, stats.ctimeMs];
      if (stats.isDirectory()) await visit(inner);
    }
  };
  await visit("");
  const copied = { sinceMs, entries };
  // Only now is the copy one: before that it is made again.
  await replacePrivateFile(list, JSON.stringify(copied));
  return copied;
}
