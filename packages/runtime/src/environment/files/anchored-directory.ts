import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readlink, realpath } from "node:fs/promises";
import { VfsError } from "@keelson/protocol";
import { type DiskView, OWN_VIEW } from "./disk-view.ts";
import { systemCode, vfsErrorFrom } from "./vfs-error-from.ts";

/**
 * A folder held open. On Linux `at(name)` reaches into this very folder through its descriptor, so that nobody can
 * swap a folder on the way for a symbolic link between our check and our use. Elsewhere it is the plain path, checked
 * once more at opening.
 */
export interface AnchoredDirectory extends AsyncDisposable {
  /** The real path it had when it was opened. */
  readonly path: string;
  /** The folder itself, for listing it. */
  readonly self: string;
  at(name: string): string;
  at(name: EntryName): EntryName;
  /** The real path of `name` in it, as it is shown. */
  pathOf(name: EntryName): string;
}

/** A name in a folder; its bytes where they need not be UTF-8. */
export type EntryName = string | Buffer;

/** Opens a folder by its real path (no symbolic link in it). Rejects with `path-traversal` when the path leads elsewhere by now. */
export async function openDirectory(path: string, root: string, disk: DiskView = OWN_VIEW): Promise<AnchoredDirectory> {
  const handle = await openHandle(disk.locate(path), path, root);
  const device = disk.deviceOf(path);
  if (device !== undefined && (await handle.stat()).dev !== device) {
    await handle.close();
    throw movedAway(path, path, root);
  }
  return anchor(handle, path, root);
}

/** Opens the folder `name` in `parent`. */
export async function openChild(parent: AnchoredDirectory, name: EntryName, root: string): Promise<AnchoredDirectory> {
  const path = parent.pathOf(name);
  return anchor(await openHandle(parent.at(name), path, root), path, root);
}

/** As `openChild`, after making it when it is missing. */
export async function ensureDirectory(parent: AnchoredDirectory, name: EntryName, root: string): Promise<AnchoredDirectory> {
  try {
    await mkdir(parent.at(name));
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw vfsErrorFrom(error, parent.pathOf(name));
  }
  return openChild(parent, name, root);
}

async function openHandle(location: EntryName, path: string, root: string): Promise<FileHandle> {
  try {
    return await open(location, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    // O_DIRECTORY with O_NOFOLLOW: ELOOP on some systems, ENOTDIR on others, when the last part is a link.
    if (systemCode(error) === "ELOOP" || (systemCode(error) === "ENOTDIR" && (await isLink(location)))) throw movedAway(path, path, root);
    throw vfsErrorFrom(error, path);
  }
}

async function anchor(handle: FileHandle, path: string, root: string): Promise<AnchoredDirectory> {
  try {
    const actual = await descriptorPath(handle);
    const found = actual ?? (await realpath(path));
    if (found !== path) throw movedAway(path, found, root);
    const self = actual === undefined ? path : `/proc/self/fd/${handle.fd}`;
    function at(name: string): string;
    function at(name: EntryName): EntryName;
    function at(name: EntryName): EntryName {
      return typeof name === "string" ? `${self}/${name}` : Buffer.concat([Buffer.from(`${self}/`), name]);
    }
    return {
      path,
      self,
      at,
      pathOf: (name) => (path === "/" ? `/${name.toString()}` : `${path}/${name.toString()}`),
      [Symbol.asyncDispose]: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw vfsErrorFrom(error, path);
  }
}

/** Where the kernel says this descriptor leads; `undefined` where it doesn't tell. */
async function descriptorPath(handle: FileHandle): Promise<string | undefined> {
  if (process.platform !== "linux") return undefined;
  try {
    return await readlink(`/proc/self/fd/${handle.fd}`);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined; // no /proc here
    throw error;
  }
}

async function isLink(location: EntryName): Promise<boolean> {
  try {
    await readlink(location);
    return true;
  } catch {
    return false; // EINVAL: it is no link
  }
}

export function movedAway(path: string, found: string, root: string): VfsError {
  return new VfsError({
    kind: "path-traversal",
    attempted: found === path ? path : `${path} (leads to ${found})`,
    root,
    message: `${path} was replaced by a link or moved while it was being opened; it is not touched.`,
  });
}
