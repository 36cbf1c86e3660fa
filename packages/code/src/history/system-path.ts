/** Names of files are bytes. They are kept as characters of Latin-1, one for each byte, because a name need not be UTF-8. Windows has names of characters. */
export const NAME_ENCODING: "latin1" | "utf8" = process.platform === "win32" ? "utf8" : "latin1";

/** Returns a kept path in the form that the functions of `node:fs` take. */
export function systemPath(path: string): string | Buffer {
  // eslint-disable-next-line no-control-regex
  return NAME_ENCODING === "utf8" || /^[\0-\x7f]*$/.test(path) ? path : Buffer.from(path, "latin1");
}

/** Returns a path of text as it is kept. */
export function keptPath(text: string): string {
  return NAME_ENCODING === "utf8" ? text : Buffer.from(text, "utf8").toString("latin1");
}

/** Returns a kept path as text. Bytes that are not UTF-8 become the replacement character. */
export function textPath(path: string): string {
  return NAME_ENCODING === "utf8" ? path : Buffer.from(path, "latin1").toString("utf8");
}

/** Returns the folder of a path; `""` for that of `/name`. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** Returns the last name of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** True if a path is a folder or is below it. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}

/** True if an error says that an entry is gone. */
export function isGone(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");
}
