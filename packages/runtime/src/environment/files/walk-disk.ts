import type { Dirent } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { VfsError } from "@keelson/protocol";
import { type AnchoredDirectory, openChild, openDirectory } from "./anchored-directory.ts";
import type { DiskView } from "./disk-view.ts";
import type { WalkedEntry, WalkPlan } from "./searchable-files.ts";
import { vfsErrorFrom } from "./vfs-error-from.ts";

export interface DiskWalk extends WalkPlan {
  readonly root: string;
  readonly disk: DiskView;
  readonly read: (folder: AnchoredDirectory, name: string, signal?: AbortSignal, maxBytes?: number) => Promise<Uint8Array>;
}

/** A folder that is being walked; it stays open, so that what lies in it is reached through it. */
interface OpenFolder {
  readonly folder: AnchoredDirectory;
  readonly relativePath: string;
  /** What is left of it, last name first. */
  readonly entries: Dirent[];
  /** Sizes that are known, by name. */
  readonly sizes: Map<string, number | undefined>;
  /** What is read before it is asked for, by name; `undefined` where that failed. */
  readonly contents: Map<string, Promise<Uint8Array | undefined>>;
}

// Enough to keep the disk busy, few enough to stop soon.
const MEASURED_AT_ONCE = 64;
// In each folder; larger files wait until they are asked for, so that memory stays small.
const READ_AHEAD = 8;
const READ_AHEAD_BYTES = 1024 * 1024;

/**
 * Every entry below the folder `start`, depth first, names in ascending order. Links are shown, never followed. A folder
 * that cannot be read is passed over, except `start` itself.
 */
export async function* walkDisk(start: string, walk: DiskWalk, signal?: AbortSignal): AsyncGenerator<WalkedEntry> {
  const { root, disk, enter } = walk;
  const open: OpenFolder[] = [await list(openDirectory(start, root, disk), start, "")];
  try {
    for (let current = open.at(-1); current !== undefined; current = open.at(-1)) {
      const next = current.entries.pop();
      if (next === undefined) {
        open.pop();
        await close(current);
        continue;
      }
      signal?.throwIfAborted();
      const entry = await describe(current, next, walk, signal);
      yield entry;
      if (!entry.isDir || !enter(entry.relativePath)) continue;
      try {
        open.push(await list(openChild(current.folder, next.name, root), entry.path, entry.relativePath));
      } catch (error) {
        if (VfsError.is(error, "io") && /^E[MN]FILE$/.test(error.failure.code ?? "")) throw error; // the rest would be missing, too
        // else: gone meanwhile, or not ours to read
      }
    }
  } finally {
    for (const folder of open) await close(folder);
  }
}

/** Not before what is read in it: its descriptor may soon be that of another folder. */
async function close({ folder, contents }: OpenFolder): Promise<void> {
  await Promise.all(contents.values());
  await folder[Symbol.asyncDispose]();
}

async function list(opening: Promise<AnchoredDirectory>, path: string, relativePath: string): Promise<OpenFolder> {
  const folder = await opening;
  try {
    const entries = await readdir(folder.self, { withFileTypes: true });
    return { folder, relativePath, entries: entries.sort((a, b) => (a.name < b.name ? 1 : -1)), sizes: new Map(), contents: new Map() };
  } catch (error) {
    await folder[Symbol.asyncDispose]();
    throw vfsErrorFrom(error, path);
  }
}

async function describe(current: OpenFolder, entry: Dirent, walk: DiskWalk, signal?: AbortSignal): Promise<WalkedEntry> {
  const { folder } = current;
  const { name } = entry;
  const relativePath = below(current, name);
  const isFile = entry.isFile();
  if (isFile && walk.measures?.(relativePath) && !current.sizes.has(name)) await measure(current, entry, walk);
  const size = current.sizes.get(name);
  if (isFile && walk.reads?.(relativePath)) readAhead(current, entry, walk, signal);
  return {
    path: folder.pathOf(name),
    relativePath,
    isDir: entry.isDirectory(),
    isFile,
    ...(size !== undefined && { size }),
    read: async (stop) => {
      const content = await current.contents.get(name);
      current.contents.delete(name);
      return content ?? walk.read(folder, name, stop);
    },
  };
}

/** Of this file and some of those that come next. */
async function measure(current: OpenFolder, entry: Dirent, walk: DiskWalk): Promise<void> {
  const next = current.entries.slice(-MEASURED_AT_ONCE).filter((other) => other.isFile() && walk.measures?.(below(current, other.name)));
  await Promise.all(
    [entry, ...next].map(async ({ name }) => {
      const stats = await lstat(current.folder.at(name)).catch(() => undefined); // gone meanwhile: without its size
      current.sizes.set(name, stats?.isFile() ? stats.size : undefined);
    }),
  );
}

/** Begins to read this file and those that come next. */
function readAhead(current: OpenFolder, entry: Dirent, walk: DiskWalk, signal?: AbortSignal): void {
  const { folder, entries, contents } = current;
  const begin = ({ name }: Dirent): void => {
    // What fails is read again when it is asked for, and then says why.
    const content = walk.read(folder, name, signal, READ_AHEAD_BYTES).catch(() => undefined);
    contents.set(name, content);
  };
  if (!contents.has(entry.name)) begin(entry);
  for (let at = entries.length - 1; at >= 0 && contents.size < READ_AHEAD; at--) {
    const next = entries[at] as Dirent;
    if (next.isFile() && !contents.has(next.name) && walk.reads?.(below(current, next.name))) begin(next);
  }
}

function below({ relativePath }: OpenFolder, name: string): string {
  return relativePath === "" ? name : `${relativePath}/${name}`;
}
