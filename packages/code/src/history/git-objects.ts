import { createHash } from "node:crypto";
import { constants, copyFileSync, existsSync, linkSync, lstatSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { join } from "node:path";
import { type FileStamp, isUnsettled, sameStamp, stampOf } from "./file-stamp.ts";
import { folderOf, NAME_ENCODING, systemPath } from "./system-path.ts";

/** An object file of git. `key` names what is kept of it; `undefined` if it is not kept. */
export interface ObjectFile {
  readonly size: number;
  readonly key: string | undefined;
}

/** The objects of repositories, and the folders that hold them. */
export interface FoundObjects {
  readonly objects: Map<string, ObjectFile>;
  readonly folders: Map<string, FileStamp>;
}

interface KeptFolder {
  readonly stamp: FileStamp;
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

const LINKS_AT_ONCE = 500;

/**
 * Keeps the objects of repositories. Git never changes an object in place, so a hard link keeps one for as long as the history needs it, and takes no
 * space until git deletes the object. On another file system objects are copied, up to a bound.
 */
export class GitObjects {
  readonly #folder: string;
  readonly #copyBytes: number;
  readonly #now: () => number;
  readonly #folders = new Map<string, KeptFolder>();
  #copied = 0;

  constructor(folder: string, { copyBytes, now }: { readonly copyBytes: number; readonly now: () => number }) {
    this.#folder = folder;
    this.#copyBytes = copyBytes;
    this.#now = now;
  }

  /** Finds the objects in some folders, and keeps those that are not in `known`. */
  async update(folders: readonly string[], known: ReadonlyMap<string, ObjectFile>): Promise<FoundObjects> {
    const found = new Map<string, ObjectFile>();
    const stamps = new Map<string, FileStamp>();
    const pending = [...folders];
    let links = 0;
    for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
      const listing = this.#list(folder);
      if (listing !== undefined) stamps.set(folder, listing.stamp);
      for (const name of listing?.folders ?? []) pending.push(`${folder}/${name}`);
      for (const name of listing?.files ?? []) {
        const path = `${folder}/${name}`;
        const kept = known.get(path);
        // Files of `info` are replaced under the same name.
        if (kept?.key !== undefined && !folder.endsWith("/info")) {
          found.set(path, kept);
          continue;
        }
        const object = this.#keep(path);
        if (object !== undefined) found.set(path, object);
        if (++links % LINKS_AT_ONCE === 0) await setImmediate();
      }
    }
    return { objects: found, folders: stamps };
  }

  /** Puts an object back. @returns false if it is not kept */
  restore(key: string, path: string): boolean {
    const source = this.#pathOf(key);
    const target = systemPath(path);
    if (!existsSync(source)) return false;
    mkdirSync(systemPath(folderOf(path)), { recursive: true });
    try {
      linkSync(source, target);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EEXIST") return true;
      if (code === "ENOENT") return false;
      copyFileSync(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    }
    return true;
  }

  /** Removes the objects that are not in use. */
  sweep(isUsed: (key: string) => boolean): void {
    for (const bucket of names(this.#folder))
      for (const key of names(join(this.#folder, bucket))) if (!isUsed(key)) rmSync(join(this.#folder, bucket, key), { force: true });
  }

  /** Returns the bytes of objects that only the history keeps. */
  bytes(): number {
    let sum = 0;
    for (const bucket of names(this.#folder))
      for (const key of names(join(this.#folder, bucket))) {
        const stats = statSync(join(this.#folder, bucket, key), { throwIfNoEntry: false });
        if (stats !== undefined && stats.nlink === 1) sum += stats.size;
      }
    return sum;
  }

  #keep(path: string): ObjectFile | undefined {
    const stats = lstatSync(systemPath(path), { throwIfNoEntry: false });
    if (stats === undefined || !stats.isFile()) return undefined;
    const key = createHash("sha256").update(`${path}\n${stats.ino}:${stats.size}:${stats.mtimeMs}`).digest("hex").slice(0, 40);
    const target = this.#pathOf(key);
    if (existsSync(target)) return { size: stats.size, key };
    mkdirSync(join(this.#folder, key.slice(0, 2)), { recursive: true, mode: 0o700 });
    try {
      linkSync(systemPath(path), target);
      return { size: stats.size, key };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT") return undefined;
      if (code === "EEXIST") return { size: stats.size, key };
    }
    if (this.#copied + stats.size > this.#copyBytes) return { size: stats.size, key: undefined };
    try {
      copyFileSync(systemPath(path), target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      this.#copied += stats.size;
      return { size: stats.size, key };
    } catch {
      rmSync(target, { force: true });
      return { size: stats.size, key: undefined };
    }
  }

  #list(folder: string): KeptFolder | undefined {
    const stats = lstatSync(systemPath(folder), { throwIfNoEntry: false });
    if (stats === undefined || !stats.isDirectory()) return undefined;
    const stamp = stampOf(stats);
    const kept = this.#folders.get(folder);
    if (kept !== undefined && sameStamp(kept.stamp, stamp)) return kept;
    const now = this.#now();
    const files: string[] = [];
    const folders: string[] = [];
    try {
      for (const entry of readdirSync(systemPath(folder), { withFileTypes: true, encoding: NAME_ENCODING })) {
        if (entry.isDirectory()) folders.push(entry.name);
        else if (entry.isFile() && !entry.name.startsWith("tmp_") && !entry.name.endsWith(".lock")) files.push(entry.name);
      }
    } catch {
      return undefined;
    }
    const listing: KeptFolder = { stamp, files, folders };
    if (isUnsettled(stamp, now)) this.#folders.delete(folder);
    else this.#folders.set(folder, listing);
    return listing;
  }

  #pathOf(key: string): string {
    if (!/^[\da-f]{40}$/.test(key)) throw new Error(`${JSON.stringify(key)} is no key of an object`);
    return join(this.#folder, key.slice(0, 2), key);
  }
}

function names(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
