import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { join, relative } from "node:path";
import type { AccessLevel, FileAccess } from "../files/file-access.ts";
import { namedBySettings } from "./git-settings.ts";
import { accessTo } from "./policy-access.ts";
import { isWithin } from "./policy-path.ts";
import { realPathOf } from "./real-path.ts";
import { deniedPaths as deniedBy, gitNames, isProtected } from "./policy-places.ts";
import type { FilesystemPolicy, SandboxPolicy } from "./sandbox-policy.ts";
import { findSteering } from "./steering-watch.ts";

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
  const held = [await realpath(process.execPath), ...(await existing(filesystem))];
  const inner = gitNames(filesystem);

  const of = (path: string): AccessLevel => {
    const level = accessTo({ ...filesystem, deniedPaths }, path);
    if (level !== "write") return level;
    if (held.some((kept) => isWithin(path, kept))) return "read";
    // As a file it could name another repository, with hooks of its own.
    if (inner.length > 0 && path.endsWith("/.git")) return "read";
    if (inner.some((kept) => `${path}/`.includes(`/.git/${kept}/`))) return "read";
    return writableRoots.some((root) => root !== path && isWithin(path, root) && isProtected(filesystem, relative(root, path)))
      ? "read"
      : level;
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

/** Paths in the writable roots that are protected and exist now, paths that the settings of repositories name, and the targets of links among them. */
async function existing(filesystem: FilesystemPolicy): Promise<string[]> {
  const names = gitNames(filesystem);
  const found: string[] = [];
  for (const root of filesystem.writableRoots ?? []) {
    const { kept, repositories, worktrees } = findSteering(root);
    found.push(...(filesystem.protectedPaths?.map((path) => join(root, path)) ?? kept));
    for (const repository of repositories) {
      found.push(...names.map((name) => join(repository, name)));
      if (names.includes("hooks")) found.push(...(await namedBySettings(repository)));
    }
    if (names.includes("commondir"))
      for (const worktree of worktrees) found.push(...["commondir", "gitdir", "config.worktree"].map((name) => join(worktree, name)));
  }
  const real = await Promise.all(found.map(realPathOf));
  // A link or a setting that leads to a whole root, or to what is around it, would leave nothing to write.
  return [...found, ...real].filter((path) => filesystem.writableRoots?.some((root) => isWithin(root, path)) !== true);
}
