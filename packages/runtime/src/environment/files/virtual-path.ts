import { VfsError } from "@keelson/protocol";
import { impossiblePath, outsideRoot } from "./vfs-failures.ts";

// As on the disks of Linux, so that whatever has a place here has one there.
const MAX_PATH_BYTES = 4095;
const MAX_NAME_BYTES = 255;

/** The absolute, normalised path that `path` means in a file system without links. Rejects what climbs out of `root`. */
export function resolveVirtualPath(path: string, workingDirectory: string, root = "/"): string {
  requirePossible(path);
  const names: string[] = [];
  const whole = path.startsWith("/") ? path : `${workingDirectory}/${path}`;
  for (const name of whole.split("/")) {
    if (name === "..") {
      if (names.pop() === undefined) throw outsideRoot(path, root);
    } else if (name !== "" && name !== ".") names.push(name);
  }
  const resolved = `/${names.join("/")}`;
  requireFits(resolved, path);
  if (!isWithin(root, resolved)) throw outsideRoot(path, root);
  return resolved;
}

/** Rejects what names nothing on any disk. */
export function requirePossible(path: string): void {
  if (path.includes("\0")) throw impossiblePath(path, "a NUL character");
  // It would be written as another character, and so name another file.
  if (!path.isWellFormed()) throw impossiblePath(path, "half a character (a lone surrogate)");
  if (path.split("/").some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES)) throw tooLong(path);
}

/** Rejects `path` when what it leads to has a longer path than any disk takes. */
export function requireFits(resolved: string, path: string): void {
  if (Buffer.byteLength(resolved) > MAX_PATH_BYTES) throw tooLong(path);
}

/** The names on the way to an absolute, normalised path. */
export function namesOf(path: string): string[] {
  return path === "/" ? [] : path.slice(1).split("/");
}

/** `path` with what lies `below` it. */
export function joinPath(path: string, below: string): string {
  return below === "" ? path : path === "/" ? `/${below}` : `${path}/${below}`;
}

/** True when `path` is `folder` or lies below it. Both absolute and normalised. */
export function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}

/** What leads from `folder` to `path`, which lies in it; `""` when they are the same. */
export function pathBelow(folder: string, path: string): string {
  return path === folder ? "" : path.slice(folder === "/" ? 1 : folder.length + 1);
}

/** The order of every listing: a folder, then all that lies in it, then its next sibling. */
export function comparePaths(a: string, b: string): number {
  const left = a.split("/");
  const right = b.split("/");
  for (const [index, name] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    if (name !== other) return name < other ? -1 : 1;
  }
  return left.length - right.length;
}

function tooLong(path: string): VfsError {
  return new VfsError({
    kind: "io",
    path,
    code: "ENAMETOOLONG",
    message: `The path ${path.slice(0, 80)}… is too long: ${MAX_NAME_BYTES} bytes for a name and ${MAX_PATH_BYTES} for the whole are the most.`,
  });
}
