import { accessSync, chmodSync, constants, lstatSync, renameSync, statSync } from "node:fs";
import { type MovedEntry, VfsError } from "@keelson/protocol";
import { type AnchoredDirectory, openChild, openDirectory } from "../files/anchored-directory.ts";
import type { DiskView } from "../files/disk-view.ts";

const SUFFIX = ".withheld-";
const MAX_NAME_BYTES = 255;

/**
 * Renames an entry, in its folder, to a name that no program obeys. Each folder on the way is held open, so that no link leads elsewhere.
 * @param root as commands see it @param path below it, in bytes as of `FolderListing` @returns `undefined` if it is not there any more
 */
export async function moveAside(root: string, path: string, disk: DiskView): Promise<MovedEntry | undefined> {
  const names = path.split("/").map((name) => Buffer.from(name, "latin1"));
  const last = names.pop() as Buffer;
  const shown = `${root === "/" ? "" : root}/${Buffer.from(path, "latin1").toString("utf8")}`;
  const open: AnchoredDirectory[] = [];
  try {
    open.push(await openDirectory(root, root, disk));
    for (const name of names) open.push(await openChild(open.at(-1) as AnchoredDirectory, name, root));
    const folder = open.at(-1) as AnchoredDirectory;
    if (lstatSync(folder.at(last), { throwIfNoEntry: false }) === undefined) return undefined;
    for (let number = 1; ; number++) {
      const suffix = Buffer.from(`${SUFFIX}${number}`);
      const name = Buffer.concat([last.subarray(0, MAX_NAME_BYTES - suffix.byteLength), suffix]);
      if (lstatSync(folder.at(name), { throwIfNoEntry: false }) !== undefined) continue;
      const rename = (): void => renameSync(folder.at(last), folder.at(name));
      if (isWritable(folder)) rename();
      else withOwnerAccess(folder, rename);
      return { path: shown, to: shown.slice(0, shown.lastIndexOf("/") + 1) + name.toString("utf8") };
    }
  } catch (error) {
    if (VfsError.is(error, "not-found") || VfsError.is(error, "not-directory") || VfsError.is(error, "path-traversal")) return undefined;
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    return { path: shown, problem: error instanceof Error ? error.message : String(error) };
  } finally {
    for (const folder of open.toReversed()) await folder[Symbol.asyncDispose]();
  }
}

function isWritable({ self }: AnchoredDirectory): boolean {
  try {
    accessSync(self, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Does something in a folder that a command closed to its own user, and closes it again. */
function withOwnerAccess({ self }: AnchoredDirectory, work: () => void): void {
  const { mode } = statSync(self);
  chmodSync(self, mode | 0o700);
  try {
    work();
  } finally {
    chmodSync(self, mode & 0o7777);
  }
}

/** True for a name that `moveAside` gives. */
export function isMovedAside(name: string): boolean {
  return /\.withheld-\d+$/.test(name);
}
