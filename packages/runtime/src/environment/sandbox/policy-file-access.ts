import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { AccessLevel, FileAccess } from "../files/file-access.ts";
import { findGitFolders, namedBySettings } from "./git-folders.ts";
import { accessTo } from "./policy-access.ts";
import { isWithin } from "./policy-path.ts";
import { realPathOf } from "./real-path.ts";
import { deniedPaths as deniedBy, protectedPaths } from "./policy-places.ts";
import type { FilesystemPolicy, SandboxPolicy } from "./sandbox-policy.ts";

const GIT = ".git/";

/**
 * What a policy lets tools do with files, as its mounts let commands. Hooks and settings of a repository are protected wherever one
 * is, or could come to be, below a writable root.
 * @param policy with real paths, as of `realPolicy`
 */
export async function policyFileAccess(policy: SandboxPolicy, workspace: string): Promise<FileAccess> {
  const { filesystem = {} } = policy;
  const { writableRoots = [] } = filesystem;
  const given = deniedBy(filesystem, { workspace, home: homedir() });
  const deniedPaths = [...new Set([...given, ...(await Promise.all(given.map(realPathOf)))])];
  const home = await realpath(homedir()).catch(() => homedir());
  const held = [await realpath(process.execPath)];
  for (const root of writableRoots)
    for (const path of protectedPaths(filesystem, root === home)) held.push(join(root, path), await realPathOf(join(root, path)));
  held.push(...(await ofRepositories(filesystem)));
  const inner = protectedPaths(filesystem, false).filter((path) => path.startsWith(GIT));

  const of = (path: string): AccessLevel => {
    const level = accessTo({ ...filesystem, deniedPaths }, path);
    if (level !== "write") return level;
    if (held.some((kept) => isWithin(path, kept))) return "read";
    // As a file it could name another repository, with hooks of its own.
    if (inner.length > 0 && path.endsWith("/.git")) return "read";
    return inner.some((kept) => `${path}/`.includes(`/${kept}/`)) ? "read" : level;
  };
  return {
    of,
    roots: { writable: writableRoots, ...(filesystem.readableRoots && { readable: filesystem.readableRoots }) },
    within(path) {
      const level = of(path);
      if (level === "none" || deniedPaths.some((denied) => isWithin(denied, path))) return "none";
      return held.some((kept) => isWithin(kept, path)) ? "read" : level;
    },
  };
}

/** Hooks and settings of the repositories that are in the writable roots now, and those that their settings name, wherever links lead. */
async function ofRepositories(filesystem: FilesystemPolicy): Promise<string[]> {
  const names = protectedPaths(filesystem, false)
    .filter((path) => path.startsWith(GIT))
    .map((path) => path.slice(GIT.length));
  const { repositories, worktrees } = await findGitFolders(filesystem.writableRoots ?? []);
  const found: string[] = [];
  for (const repository of repositories) {
    found.push(...names.map((name) => join(repository, name)));
    if (names.includes("hooks")) found.push(...(await namedBySettings(repository)));
  }
  if (names.includes("commondir"))
    for (const worktree of worktrees) found.push(...["commondir", "gitdir", "config.worktree"].map((name) => join(worktree, name)));
  const real = await Promise.all(found.map(realPathOf));
  // A link or a setting that leads to a whole root, or to what is around it, would leave nothing to write.
  return [...found, ...real].filter((path) => filesystem.writableRoots?.some((root) => isWithin(root, path)) !== true);
}
