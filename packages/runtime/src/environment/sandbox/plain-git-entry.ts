import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path/posix";
import { isMissing, systemPath } from "./folder-listing.ts";
import { isPlainGitConfig, isPlainTodo, splitWorktreeSetting } from "./plain-git-content.ts";

const MAX_BYTES = 1024 * 1024;

/** A folder that is scanned: where this process reaches it, and its path as commands see it. Both in bytes as of `FolderListing`. */
export interface ScannedRoot {
  readonly location: string;
  readonly path: string;
}

/**
 * True if a file of git says nothing that its repository does not say by itself.
 * @param path below the root @param name as in `GIT_STEERING_PATHS`
 */
export function isPlainGitEntry(root: ScannedRoot, path: string, name: string): boolean {
  const text = readText(joined(root.location, path));
  if (text === undefined) return false;
  const folder = path.slice(0, -name.length - 1);
  switch (name) {
    case "config": {
      const { worktree, rest } = splitWorktreeSetting(text);
      const isSubmodule = /(^|\/)modules\/./.test(folder);
      return isPlainGitConfig(rest) && (worktree === undefined || (isSubmodule && placeIn(root, folder, worktree) !== undefined));
    }
    case "config.worktree":
      return isPlainGitConfig(text);
    case "commondir":
      return text.trim() === "../.." && /(^|\/)worktrees\/[^/]+$/.test(folder);
    case "gitdir":
      return /^[^\n]+\/\.git\n?$/.test(text) && placeIn(root, folder, text.trim()) !== undefined;
    case "info/attributes":
      return text.split("\n").every((line) => /^\s*(#.*)?$/.test(line));
    default:
      return name.endsWith("todo") && isPlainTodo(text);
  }
}

/** The folder that a `.git` file names, below the root; `undefined` if it names none there. */
export function namedByGitFile(root: ScannedRoot, path: string): string | undefined {
  const named = /^gitdir: ([^\n]+)\n?$/.exec(readText(joined(root.location, path)) ?? "")?.[1];
  return named === undefined ? undefined : placeIn(root, dirname(path), named.replace(/[/\r]+$/, ""));
}

/** A path, relative to a folder of the root or absolute, as one below the root. Links are not followed. */
function placeIn({ path: root }: ScannedRoot, folder: string, path: string): string | undefined {
  const whole = isAbsolute(path) ? join(path) : join(root, folder, path);
  return whole.startsWith(`${root === "/" ? "" : root}/`) ? whole.slice(root === "/" ? 1 : root.length + 1) : undefined;
}

function readText(path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(systemPath(path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = fstatSync(file);
    return stats.isFile() && stats.size <= MAX_BYTES ? readFileSync(file, "latin1") : undefined;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function joined(root: string, path: string): string {
  return `${root === "/" ? "" : root}/${path}`;
}
