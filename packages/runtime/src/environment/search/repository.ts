import { basename, dirname, isAbsolute, join } from "node:path/posix";
import { type SearchOmission, VfsError } from "@keelson/protocol";
import { isWithin, joinPath, pathBelow } from "../files/virtual-path.ts";
import { parseIndex } from "../sandbox/git-index.ts";
import { type GitignoreRules, parseGitignore } from "./gitignore-rules.ts";
import type { SearchableFiles } from "./searchable-files.ts";

/** The repository of git whose worktree a folder is. */
export interface Repository {
  /** The worktree. */
  readonly folder: string;
  /** True if the index has this file, or a file in this folder. */
  tracks(path: string, isDir: boolean): Promise<boolean>;
  /** Returns the rules of `info/exclude`. */
  readExclude(): Promise<GitignoreRules | undefined>;
}

interface TrackedPaths {
  readonly files: ReadonlySet<string>;
  readonly folders: ReadonlySet<string>;
}

const NONE: TrackedPaths = { files: new Set(), folders: new Set() };

/** @param isInside true if the worktree is inside the root of the files */
export function createRepository(
  files: SearchableFiles,
  folder: string,
  isInside: boolean,
  omit: (omission: SearchOmission) => void,
): Repository {
  const read = async (path: string): Promise<Buffer | undefined> => {
    if (isInside && isWithin(files.rootOf(folder), path)) return readInside(files, path);
    const bytes = files.readOutside?.(path);
    return bytes && Buffer.from(bytes);
  };
  let places: Promise<{ readonly own: string; readonly common: string }> | undefined;
  let tracked: Promise<TrackedPaths> | undefined;

  /** Returns the storage of the worktree and the one that it shares with others. A worktree beside the first names its storage in a file `.git`. */
  async function findPlaces(): Promise<{ readonly own: string; readonly common: string }> {
    const git = joinPath(folder, ".git");
    const named = /^gitdir: ([^\n]+)\n?$/.exec((await read(git))?.toString("utf8") ?? "")?.[1];
    if (named === undefined) return { own: git, common: git };
    const own = isAbsolute(named) ? named : join(folder, named);
    const common = (await read(joinPath(own, "commondir")))?.toString("utf8").trim();
    return { own, common: common === undefined ? own : isAbsolute(common) ? common : join(own, common) };
  }
  const findPlacesOnce = (): typeof places & {} => (places ??= findPlaces());

  async function readTracked(): Promise<TrackedPaths> {
    const { own, common } = await findPlacesOnce();
    const path = joinPath(own, "index");
    const index = await read(path);
    if (index === undefined) return NONE;
    const isSha256 = /^\s*objectformat\s*=\s*sha256\s*$/im.test((await read(joinPath(common, "config")))?.toString("latin1") ?? "");
    const found = readIndex(index, isSha256 ? 32 : 20);
    if (found === undefined)
      omit({
        path,
        isDir: false,
        reason: "unreadable",
        message: "The format of the index of git is not understood, so files that git tracks although its rules ignore them are left out.",
      });
    return found ?? NONE;
  }

  return {
    folder,
    async tracks(path, isDir) {
      const { files: paths, folders } = await (tracked ??= readTracked());
      const below = inBytes(pathBelow(folder, path));
      // A submodule is an entry of the index and a folder on the disk.
      return paths.has(below) || (isDir && folders.has(below));
    },
    async readExclude() {
      const { common } = await findPlacesOnce();
      const text = await read(joinPath(common, "info/exclude"));
      return text && parseGitignore(text.toString("utf8"));
    },
  };
}

function readIndex(index: Buffer, idBytes: number): TrackedPaths | undefined {
  const paths = new Set<string>();
  const folders = new Set<string>();
  const keep = (path: string): boolean => {
    paths.add(path);
    // The entries of a folder follow each other, so that most have a known folder.
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const folder = path.slice(0, end);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
    return false;
  };
  try {
    return parseIndex(index, idBytes, keep) === undefined ? undefined : { files: paths, folders };
  } catch (error) {
    if (error instanceof RangeError) return undefined; // it ends too early
    throw error;
  }
}

/** Returns a path as the index has it: one character a byte. */
function inBytes(path: string): string {
  return Buffer.from(path).toString("latin1");
}

async function readInside(files: SearchableFiles, path: string): Promise<Buffer | undefined> {
  try {
    const folder = await files.openFolder(dirname(path));
    try {
      const bytes = await folder.read(basename(path));
      return Buffer.from(bytes === "large" ? await folder.readWhole(basename(path)) : bytes);
    } finally {
      folder.close();
    }
  } catch (error) {
    if (VfsError.is(error)) return undefined; // there is none, or none that can be read
    throw error;
  }
}
