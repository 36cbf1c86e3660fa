import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Scope } from "@keelson/protocol";
import { nodeCrypto } from "../../platform/node-crypto.ts";
import { scopeName } from "../kit/state-scope.ts";
import type { EntryFormat } from "./entry-format.ts";

/** The end of the names of a store's files. */
type Extension = EntryFormat["extension"];

/** File names end at 255 bytes nearly everywhere; some is left for what is put behind them. */
const MAX_SEGMENT = 200;
const CONTINUED = "%+";
/** Paths end at 4,096 bytes on Linux and at 1,024 on macOS; some of that is the store's own folder. */
const MAX_SCOPE_PATH = 300;
const MAX_KEY_PATH = 400;
/** No name that was escaped begins so. */
const DIGEST = /^%\+[0-9a-f]{64}\.(?:json|md)$/;

/** The folder of a scope. One whose path would be too long has its digest as its name, unless an earlier version has made the long one. */
export function scopeFolder(root: string, scope: Scope): string {
  const path = join(root, scopePath(scope));
  if (path.length - root.length <= MAX_SCOPE_PATH || existsSync(path)) return path;
  return join(root, scope.type, digestName(scopeName(scope)));
}

/** The file of a key in the folder of its scope. One whose path would be too long is named as in {@link scopeFolder}. */
export function keyFile(folder: string, key: string, extension: Extension): string {
  const path = join(folder, keyPath(key, extension));
  if (path.length - folder.length <= MAX_KEY_PATH || existsSync(path)) return path;
  return join(folder, `${digestName(key)}${extension}`);
}

/** Whether a file's path below the folder of its scope says nothing of its key, which stands in the file. */
export function isDigestPath(path: string): boolean {
  return DIGEST.test(path);
}

function digestName(name: string): string {
  return `${CONTINUED}${nodeCrypto().createHash("sha256").update(name).digest("hex")}`;
}

/**
 * Where a key lies below the folder of its scope: `history/turn-1` at `history/turn-1.json`. Every key has a path of its own, on file systems
 * that don't tell upper from lower case, or one Unicode form from another, as well: what is not plain in a name is written as `%` and its
 * bytes in hexadecimal digits. Names that are too long go on in a folder.
 */
export function keyPath(key: string, extension: Extension): string {
  const names = key.split("/").map(escapeName);
  const last = `${names.pop() ?? ""}${extension}`;
  return [...names.map((name) => (name.endsWith(extension) ? name.replace(/\.(?=[^.]*$)/, "%2E") : name)), last].flatMap(cut).join("/");
}

/** Where the keys of a scope lie: `session/s1`, `custom/team/7`, `global`. Upper case and the like are written as in {@link keyPath}. */
export function scopePath(scope: Scope): string {
  const name = scopeName(scope);
  return name
    .split("/")
    .map((part) => cut(escapeName(decodeURIComponent(part))).join("/"))
    .join("/");
}

/** The key of a path that {@link keyPath} made; `undefined` for any other. */
export function keyOfPath(path: string, extension: Extension): string | undefined {
  const joined = path.replaceAll(`${CONTINUED}/`, "");
  if (!joined.endsWith(extension)) return undefined;
  const names = joined.slice(0, -extension.length).split("/");
  let key: string;
  try {
    key = names.map((name) => decodeURIComponent(name === "%" ? "" : name)).join("/");
  } catch {
    return undefined;
  }
  return keyPath(key, extension) === path ? key : undefined;
}

function escapeName(name: string): string {
  if (name === "") return "%";
  let escaped = "";
  for (const byte of Buffer.from(name)) escaped += PLAIN.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : hex(byte);
  // Names of folders above, hidden files, and what Windows drops at the end or keeps for devices.
  return escaped.replace(/^\.|\.$/g, "%2E").replace(/^(?=(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$))./, (first) => hex(first.charCodeAt(0)));
}

const PLAIN = /[a-z0-9._-]/;

function hex(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}

function cut(name: string): readonly string[] {
  const parts: string[] = [];
  let left = name;
  while (left.length > MAX_SEGMENT) {
    parts.push(left.slice(0, MAX_SEGMENT) + CONTINUED);
    left = left.slice(MAX_SEGMENT);
  }
  return [...parts, left];
}
