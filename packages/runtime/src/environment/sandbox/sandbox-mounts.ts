import { lstat, readdir, readFile, readlink, realpath, rename, symlink } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, relative, sep } from "node:path";
import { EnvironmentError } from "@keelson/protocol";
import { isPlaceholder, type Placeholder, placeFile, placeFolder } from "./placeholders.ts";
import { isWithin, policyPath } from "./policy-path.ts";
import { deniedPaths, protectedPaths } from "./policy-places.ts";
import type { SandboxPolicy } from "./sandbox-policy.ts";

/** What a path is in the sandbox. `hidden`: an empty file or folder that can't be written. */
export interface Mount {
  readonly path: string;
  readonly as: "writable" | "read-only" | "hidden-file" | "hidden-folder";
}

/** Mounts in the order in which they are made, and what has to be cleared away after the command. */
export interface SandboxMounts extends AsyncDisposable {
  readonly mounts: readonly Mount[];
  /** With links resolved. */
  readonly writableRoots: readonly string[];
}

// An existing `.git/commondir` makes git read its settings elsewhere; this text makes it read them where they are.
const FILE_PLACEHOLDERS: { readonly [path: string]: string } = { ".git/commondir": ".\n" };
const MAX_FOLDERS = 2000;
const MAX_DEPTH = 6;
// Later ones win at the same path.
const ORDER: readonly Mount["as"][] = ["writable", "read-only", "hidden-folder", "hidden-file"];

/**
 * Works out the mounts of one command. What does not exist and must not come to be gets a placeholder until disposed.
 * @param shown folders that can be read in any case
 */
export async function prepareMounts(policy: SandboxPolicy, workspace: string, shown: readonly string[] = []): Promise<SandboxMounts> {
  const { filesystem = {} } = policy;
  const placeholders: Placeholder[] = [];
  const links = new Map<string, string>();
  const clearAway = async (): Promise<void> => {
    for (const placeholder of placeholders.toReversed()) await placeholder.remove();
    for (const [path, target] of links) await restoreLink(path, target);
  };
  const planned = new Map<string, Mount["as"]>();
  const plan = (path: string, as: Mount["as"]): void => {
    const before = planned.get(path);
    if (before === undefined || ORDER.indexOf(as) > ORDER.indexOf(before)) planned.set(path, as);
  };
  try {
    const writableRoots: string[] = [];
    for (const given of filesystem.writableRoots ?? [workspace]) writableRoots.push(await existingFolder(policyPath(given, workspace)));
    const readableRoots: string[] = [];
    for (const given of filesystem.readableRoots ?? []) {
      const path = await realpath(policyPath(given, workspace)).catch(() => undefined);
      if (path === undefined) throw cannotProvide(`its readable root ${policyPath(given, workspace)} does not exist`);
      readableRoots.push(path);
    }
    for (const path of shown) readableRoots.push(await realpath(path));
    for (const root of writableRoots) plan(root, "writable");
    for (const root of readableRoots) plan(root, "read-only");

    const isWritable = (path: string): boolean => writableRoots.some((root) => isWithin(path, root));
    /** Mounts on its folders keep them from being renamed, which would take what is protected out of the way. */
    const pin = (path: string): void => {
      for (let folder = dirname(path); isWritable(folder) && !writableRoots.includes(folder); folder = dirname(folder))
        plan(folder, "writable");
    };
    /** Keeps what does not exist from coming to be: its first part that is missing is held. */
    const hold = async (root: string, path: string): Promise<void> => {
      const parts = relative(root, path).split(sep);
      let at = root;
      for (const part of parts) {
        at = join(at, part);
        // This comes first: it takes away what a command that was killed left there.
        const isHeld = await isPlaceholder(at);
        const found = await lookAt(at);
        if (found !== undefined && !isHeld) {
          if (found === "folder") continue;
          return;
        }
        const text = FILE_PLACEHOLDERS[relative(root, at)];
        const placeholder = text === undefined ? await placeFolder(at) : await placeFile(at, text);
        pin(at);
        if (placeholder !== undefined) placeholders.push(placeholder);
        if (placeholder?.holders !== undefined) plan(placeholder.holders, "hidden-folder");
        // Something came to be there meanwhile: it stays as it is.
        plan(at, text === undefined && placeholder !== undefined ? "hidden-folder" : "read-only");
        return;
      }
    };
    const protect = async (root: string, path: string): Promise<void> => {
      const found = await firstOddity(root, path);
      if (found?.type === "missing") return hold(root, path);
      if (found?.type === "link") {
        // A mount can't stand on a link: what it leads to is protected, and the link is put back after the command.
        links.set(found.path, await readlink(found.path));
        const target = await realpath(found.path).catch(() => undefined);
        if (target !== undefined && isWritable(target) && !writableRoots.includes(target)) {
          pin(target);
          plan(target, "read-only");
        }
        return;
      }
      const kept = found?.path ?? path;
      pin(kept);
      plan(kept, "read-only");
    };
    const home = await realpath(homedir()).catch(() => homedir());
    const rootsToGuard = [...writableRoots, ...(await nestedRepositories(writableRoots))];
    for (const root of rootsToGuard) {
      for (const path of protectedPaths(filesystem, root === home))
        if (writableRoots.includes(root) || path.startsWith(".git/")) await protect(root, join(root, path));
    }
    // The program that runs all this must be the same afterwards.
    const node = await realpath(process.execPath);
    if (isWritable(node)) {
      pin(node);
      plan(node, "read-only");
    }

    for (const given of deniedPaths(filesystem, { workspace, home: homedir() })) {
      const path = await realpath(given).catch(() => undefined);
      if (path === undefined) {
        const folder = await realOfMissing(given);
        const root = writableRoots.find((candidate) => isWithin(folder, candidate));
        if (root !== undefined) await hold(root, folder);
        continue;
      }
      if (writableRoots.includes(path)) throw cannotProvide(`${path} is both denied and a writable root`);
      if (path === "/") throw cannotProvide("the whole file system is denied");
      if (isWritable(path)) pin(path);
      plan(path, (await lookAt(path)) === "folder" ? "hidden-folder" : "hidden-file");
      // A link within a writable root could be turned elsewhere, but only to what is visible anyway.
    }
    for (const path of await listeningSockets(isWritable)) if (!planned.has(path)) plan(path, "hidden-file");

    // A deeper path is mounted after those above it, so it is what holds there.
    const mounts = [...planned]
      .map(([path, as]) => ({ path, as }))
      .toSorted((one, other) => depth(one.path) - depth(other.path) || (one.path < other.path ? -1 : 1));
    return { mounts: withoutThoseInHidden(mounts, writableRoots, readableRoots), writableRoots, [Symbol.asyncDispose]: clearAway };
  } catch (error) {
    await clearAway();
    throw error;
  }
}

/** In a hidden folder only roots that the policy names are shown. */
function withoutThoseInHidden(mounts: readonly Mount[], ...roots: readonly (readonly string[])[]): Mount[] {
  const shown = roots.flat();
  return mounts.filter(({ path }) => {
    const over = mounts.findLast(
      (other) => other.path !== path && isWithin(path, other.path) && (other.as === "hidden-folder" || shown.includes(other.path)),
    );
    return over === undefined || over.as !== "hidden-folder" || shown.includes(path);
  });
}

/** What was put in the place of a protected link is moved aside, not deleted. */
async function restoreLink(path: string, target: string): Promise<void> {
  if ((await readlink(path).catch(() => undefined)) === target) return;
  await rename(path, `${path}.replaced-${Date.now()}`).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  });
  await symlink(target, path);
}

async function existingFolder(path: string): Promise<string> {
  const found = await realpath(path).catch(() => undefined);
  if (found === undefined || (await lookAt(found)) !== "folder") throw cannotProvide(`its writable root ${path} is not a folder`);
  if (found === "/" || ["/proc", "/sys", "/dev"].some((system) => isWithin(found, system)))
    throw cannotProvide(`${path} can't be a writable root: it is part of the system`);
  return found;
}

/** A path that does not exist, with the links of what does exist resolved. */
async function realOfMissing(path: string): Promise<string> {
  const parent = dirname(path);
  if (parent === path) return path;
  return join(await realpath(parent).catch(() => realOfMissing(parent)), path.slice(parent === "/" ? 1 : parent.length + 1));
}

async function lookAt(path: string): Promise<"folder" | "file" | "link" | undefined> {
  try {
    const found = await lstat(path);
    return found.isDirectory() ? "folder" : found.isSymbolicLink() ? "link" : "file";
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}

/** The first part of the way from `root` to `path` that is not a folder: `.git` is a file in a worktree. */
async function firstOddity(
  root: string,
  path: string,
): Promise<{ readonly type: "missing" | "link" | "file"; readonly path: string } | undefined> {
  let at = root;
  for (const part of relative(root, path).split(sep)) {
    at = join(at, part);
    const isHeld = await isPlaceholder(at);
    const found = await lookAt(at);
    if (found === undefined || isHeld) return { type: "missing", path: at };
    if (found !== "folder") return { type: found, path: at };
  }
  return undefined;
}

/** Repositories within the roots, as far as they are found in the first folders: their hooks are run like those of the root. */
async function nestedRepositories(roots: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  const left = roots.map((folder) => ({ folder, level: 0 }));
  for (let looked = 0; left.length > 0 && looked < MAX_FOLDERS; looked++) {
    const { folder, level } = left.shift() as { folder: string; level: number };
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    if (level > 0 && entries.some(({ name }) => name === ".git")) found.push(folder);
    if (level === MAX_DEPTH) continue;
    for (const entry of entries)
      if (entry.isDirectory() && entry.name !== ".git" && entry.name !== "node_modules")
        left.push({ folder: join(folder, entry.name), level: level + 1 });
  }
  return found;
}

/** Sockets that servers of this machine listen on: a mount that can't be written to can still be connected through. */
async function listeningSockets(isShown: (path: string) => boolean): Promise<string[]> {
  const table = await readFile("/proc/net/unix", "utf8").catch(() => "");
  const paths = new Set<string>();
  for (const line of table.split("\n").slice(1)) {
    const path = /^\S+: \S+ \S+ \S+ \S+ \S+ \d+ (\/.*)$/.exec(line)?.[1];
    if (path === undefined || (isHiddenAnyway(path) && !isShown(path))) continue;
    const real = await realpath(path).catch(() => undefined);
    if (real !== undefined && (!isHiddenAnyway(real) || isShown(real)) && (await lstat(real).catch(() => undefined))?.isSocket())
      paths.add(real);
  }
  return [...paths];
}

function isHiddenAnyway(path: string): boolean {
  return ["/run", "/var/run", "/tmp", "/var/tmp", "/dev", "/proc", "/sys"].some((folder) => isWithin(path, folder));
}

function depth(path: string): number {
  return path.split("/").length;
}

function cannotProvide(reason: string): EnvironmentError {
  return new EnvironmentError({ kind: "provision-failed", message: `The sandbox can't be made: ${reason}.` });
}
