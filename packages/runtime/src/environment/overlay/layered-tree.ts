import { appendFileSync, existsSync, readFileSync, type Stats } from "node:fs";
import { lstat, mkdir, readdir, readlink } from "node:fs/promises";
import { dirname, resolve } from "node:path/posix";
import { VfsError } from "@keelson/protocol";
import { openDirectory } from "../files/anchored-directory.ts";
import { systemCode, vfsErrorFrom } from "../files/vfs-error-from.ts";
import { notDirectory, notFound, outsideRoot } from "../files/vfs-failures.ts";
import { isWithin, joinPath, namesOf, pathBelow, requireFits, requirePossible } from "../files/virtual-path.ts";

import { leadsNowhere, withEntry } from "./anchored-entry.ts";

/** What stands at a path of the workspace, and in which of the two folders. */
export interface LayeredEntry {
  /** Of the workspace. */
  readonly path: string;
  /** Where it is on the disk. */
  readonly location: string;
  readonly isUpper: boolean;
  readonly stats: Stats;
}

/**
 * A folder and, above it, what was changed: a path is first looked for in `upper`, then in `base` unless it was hidden there. Paths are
 * those of the base, absolute and normalised.
 */
export interface LayeredTree {
  readonly base: string;
  /** The path with links followed, also a dangling one; its last parts may not exist. Rejects with `path-traversal` when it leads outside. */
  resolve(path: string, workingDirectory: string): Promise<string>;
  /** As `resolve`, but the last part is taken as it stands. */
  resolveEntry(path: string, workingDirectory: string): Promise<string>;
  find(path: string): Promise<LayeredEntry | undefined>;
  require(path: string): Promise<LayeredEntry>;
  /** Where a link leads, as it says. */
  linkTarget(entry: LayeredEntry): Promise<string>;
  /** Names in ascending order. */
  list(path: string): Promise<string[]>;
  /** Names in a folder of the upper layer. */
  listUpper(path: string): Promise<string[]>;
  /** Where the path stands, or would stand, in the upper layer. */
  upper(path: string): string;
  /** Makes the folder of a path in the upper layer, with those above it. */
  makeParent(path: string): Promise<void>;
  /** From now on the base shows nothing at this path and below it. */
  hide(path: string): Promise<void>;
}

// As many links as Linux follows before it gives up.
const MAX_LINKS = 40;

/** @param goneFile where the hidden paths are kept: JSON, a path a line */
export function createLayeredTree(base: string, upperFolder: string, goneFile: string): LayeredTree {
  const gone = new Set<string>(existsSync(goneFile) ? readGone(goneFile) : []);
  const upper = (path: string): string => joinPath(upperFolder, pathBelow(base, path));

  const isHidden = (path: string): boolean => {
    for (let at = path; isWithin(base, at) && at !== base; at = dirname(at)) if (gone.has(pathBelow(base, at))) return true;
    return false;
  };
  async function find(path: string): Promise<LayeredEntry | undefined> {
    const changed = await entryAt(upper(path), path);
    if (changed !== undefined) return { path, location: upper(path), isUpper: true, stats: changed };
    if (isHidden(path)) return undefined;
    const original = await originalAt(path);
    return original && { path, location: path, isUpper: false, stats: original };
  }
  /** What is a folder here may have become a link in the base meanwhile, which must not be followed. */
  async function originalAt(path: string): Promise<Stats | undefined> {
    try {
      return await withEntry(base, path, (location) => entryAt(location, path));
    } catch (error) {
      if (leadsNowhere(error)) return undefined;
      throw error;
    }
  }
  async function linkTarget({ path, location, isUpper }: LayeredEntry): Promise<string> {
    return isUpper ? readlink(location) : withEntry(base, path, (place) => readlink(place));
  }
  async function require(path: string): Promise<LayeredEntry> {
    const found = await find(path);
    if (found === undefined) throw notFound(path);
    return found;
  }
  async function listUpper(path: string): Promise<string[]> {
    return readdir(upper(path)).catch((error: unknown) => {
      if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return [];
      throw vfsErrorFrom(error, path);
    });
  }
  async function listBase(path: string): Promise<string[]> {
    if (isHidden(path)) return [];
    try {
      await using folder = await openDirectory(path, base);
      return (await readdir(folder.self)).filter((name) => !gone.has(pathBelow(base, joinPath(path, name))));
    } catch (error) {
      // Also where it became a link meanwhile.
      if (leadsNowhere(error)) return [];
      throw vfsErrorFrom(error, path);
    }
  }

  async function follow(given: string, whole: string, followsLast: boolean): Promise<string> {
    let left = namesOf(`/${pathBelow(base, whole)}`);
    let at = base;
    for (let links = 0; left.length > 0;) {
      const [name, ...rest] = left as [string, ...string[]];
      const next = joinPath(at, name);
      const entry = await find(next);
      if (entry === undefined) return joinPath(next, rest.join("/"));
      if (entry.stats.isSymbolicLink() && (rest.length > 0 || followsLast)) {
        if (++links > MAX_LINKS)
          throw new VfsError({
            kind: "io",
            path: given,
            code: "ELOOP",
            message: `${given} leads through more than ${MAX_LINKS} symbolic links.`,
          });
        const target = resolve(at, await linkTarget(entry));
        if (!isWithin(base, target)) throw outsideRoot(given, base);
        left = [...namesOf(`/${pathBelow(base, target)}`), ...rest];
        at = base;
        continue;
      }
      if (!entry.stats.isDirectory() && rest.length > 0) throw notDirectory(given);
      at = next;
      left = rest;
    }
    return at;
  }
  const absolute = (path: string, workingDirectory: string): string => {
    requirePossible(path);
    const whole = resolve(workingDirectory, path);
    requireFits(whole, path);
    if (!isWithin(base, whole)) throw outsideRoot(path, base);
    return whole;
  };

  return {
    base,
    find,
    require,
    linkTarget,
    listUpper,
    upper,
    resolve: async (path, workingDirectory) => follow(path, absolute(path, workingDirectory), true),
    resolveEntry: async (path, workingDirectory) => follow(path, absolute(path, workingDirectory), false),

    async list(path) {
      const { stats } = await require(path);
      if (!stats.isDirectory()) throw notDirectory(path);
      return [...new Set([...(await listUpper(path)), ...(await listBase(path))])].sort();
    },

    async makeParent(path) {
      const missing: string[] = [];
      for (let at = dirname(path); isWithin(base, at); at = dirname(at)) {
        if ((await entryAt(upper(at), at)) !== undefined) break;
        missing.unshift(at);
        if (at === "/") break;
      }
      for (const folder of missing) {
        const mode = (await find(folder))?.stats.mode;
        await mkdir(upper(folder), mode === undefined ? {} : { mode: mode & 0o7777 }).catch((error: unknown) => {
          if (systemCode(error) !== "EEXIST") throw vfsErrorFrom(error, folder);
        });
      }
    },

    async hide(path) {
      const relativePath = pathBelow(base, path);
      if (gone.has(relativePath)) return;
      gone.add(relativePath);
      // At once, so that what is hidden here is hidden on the disk, too, whatever happens next.
      appendFileSync(goneFile, `${JSON.stringify(relativePath)}\n`);
    },
  };
}

async function entryAt(location: string, path: string): Promise<Stats | undefined> {
  try {
    return await lstat(location);
  } catch (error) {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return undefined;
    throw vfsErrorFrom(error, path);
  }
}

function readGone(file: string): string[] {
  const lines = readFileSync(file, "utf8").split("\n");
  // A line that was cut off by the end of its process hid nothing yet.
  return lines.slice(0, -1).map((line) => JSON.parse(line) as string);
}
