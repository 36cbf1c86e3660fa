import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path/posix";
import { replacePrivateFile } from "../../platform/private-file.ts";
import { openDirectory } from "../files/anchored-directory.ts";
import { createDiskVfs } from "../files/disk-vfs.ts";
import { OWN_PLACE } from "../sandbox/sandbox-place.ts";
import { atEntry, namesIn } from "./anchored-entry.ts";
import { allOf } from "./all-of.ts";
import { statsOf } from "./base-states.ts";
import { COMMIT_FOLDER } from "./commit-folder.ts";
import { copyFolder } from "./copy-folder.ts";
import type { OverlayLayer } from "./overlay-layer.ts";
import { resolveEntry } from "./resolve-entry.ts";
import { timeAfterChanges } from "./time-after-changes.ts";

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
    list: (path) => namesIn(root, join(root, path)),
    async held(path) {
      const names = await namesIn(root, join(root, path));
      const isHeld = await allOf(names, async (name) => {
        const inner = path === "" ? name : `${path}/${name}`;
        const stats = await atEntry(root, join(root, inner), statsOf);
        if (stats === undefined) return false; // removed since the folder was listed
        const [inode, changedMs] = entries[inner] ?? [];
        return stats.isDirectory() || stats.ino !== inode || stats.ctimeMs !== changedMs;
      });
      return names.filter((_, index) => isHeld[index]);
    },
    reach: (path, use) => atEntry(root, join(root, path), use),
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
  const sinceMs = await timeAfterChanges(join(folder, "copying"));
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
