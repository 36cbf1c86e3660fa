import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** Names of branches of worktrees begin so. */
export const BRANCH_PREFIX = "keelson/";

/**
 * Returns the folder of all worktrees that Keelson makes. It is beside the home folder of Keelson and not in it, because commands must not see that
 * folder, and what is in it is never source code.
 */
export function worktreesFolder(home: string): string {
  return `${realOf(home)}-worktrees`;
}

/** Returns the folder of the worktrees of one repository. @param main the folder that the repository began with */
export function worktreesOf(home: string, main: string): string {
  const name = basename(main).replaceAll(/[^\w.-]+/g, "-") || "repository";
  const digest = createHash("sha256").update(main).digest("hex").slice(0, 8);
  return join(worktreesFolder(home), `${name}-${digest}`);
}

/** A worktree that Keelson made. */
export interface OwnWorktree {
  readonly name: string;
  readonly root: string;
}

/** Returns the worktree of Keelson that holds a folder, by its path alone: it may be gone. `undefined`: it is in none. */
export function ownWorktreeAt(folder: string, home: string): OwnWorktree | undefined {
  const all = worktreesFolder(home);
  for (let root = folder; dirname(root) !== root; root = dirname(root))
    if (dirname(dirname(root)) === all) return { name: basename(root), root };
  return undefined;
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
