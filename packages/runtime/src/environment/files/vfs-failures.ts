import { type VfsCapability, VfsError } from "@keelson/protocol";

// What every kind of file system says alike.

export function notFound(path: string): VfsError {
  return new VfsError({ kind: "not-found", path, message: `No such file or folder: ${path}.` });
}

export function isDirectory(path: string): VfsError {
  return new VfsError({ kind: "is-directory", path, message: `${path} is a folder, not a file.` });
}

export function notDirectory(path: string): VfsError {
  return new VfsError({ kind: "not-directory", path, message: `${path} is a file where a folder is needed.` });
}

export function needsRecursive(path: string): VfsError {
  return new VfsError({
    kind: "is-directory",
    path,
    message: `${path} is a folder. To remove it with all it holds, set recursive.`,
  });
}

export function folderInTheWay(path: string): VfsError {
  return new VfsError({ kind: "conflict", path, message: `${path} exists already; a folder is copied only to a new place.` });
}

export function intoItself(from: string, to: string): VfsError {
  return new VfsError({ kind: "other", message: `${from} cannot be placed at ${to}, which lies inside it.` });
}

export function ontoItself(path: string): VfsError {
  return new VfsError({ kind: "other", message: `${path} cannot be copied onto itself.` });
}

export function rootStays(path: string): VfsError {
  return new VfsError({ kind: "operation-denied", path, message: `${path} is the root of this file system; it stays.` });
}

export function unexpectedContent(path: string, what: string): VfsError {
  return new VfsError({ kind: "conflict", path, message: `${path} is not as expected: ${what}. Read it again before writing.` });
}

export function outsideRoot(attempted: string, root: string): VfsError {
  return new VfsError({ kind: "path-traversal", attempted, root, message: `${attempted} lies outside ${root}. Use a path inside it.` });
}

export function outsideScope(path: string, wanted: "read" | "write", folders: readonly string[]): VfsError {
  const scope = folders.join(", ");
  const may = wanted === "read" ? "be read" : "be changed";
  const message =
    scope === ""
      ? `${path} cannot ${may}: no folder may here.`
      : `${path} cannot ${may}: only what lies in ${scope} can. Use a path inside.`;
  return new VfsError({ kind: "scope-violation", path, scope, message });
}

export function keptAway(path: string): VfsError {
  return new VfsError({ kind: "operation-denied", path, message: `${path} is denied here: it can be neither read nor written.` });
}

export function readOnlyHere(path: string): VfsError {
  return new VfsError({ kind: "operation-denied", path, message: `${path}, or something in it, may be read here and not changed.` });
}

export function impossiblePath(path: string, what: string): VfsError {
  return new VfsError({ kind: "io", path, code: "EINVAL", message: `A path cannot contain ${what}.` });
}

/** @param message what cannot be done, and what to do instead */
export function unsupported(operation: VfsCapability, message: string): VfsError {
  return new VfsError({ kind: "unsupported", operation, message });
}

export function hardLinked(path: string, links: number): VfsError {
  return new VfsError({
    kind: "operation-denied",
    path,
    message:
      `${path} is one of ${links} names (hard links) of the same file. Replacing it would leave the old content under the other names, so it was not changed. ` +
      "To change this name alone, make it a file of its own first (cp -p FILE FILE.new && mv FILE.new FILE). To change all names, write into the file with a command (cat NEW > FILE).",
  });
}
