import { readlink, symlink } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { type MovedEntry, VfsError } from "@keelson/protocol";
import { openDirectory } from "../files/anchored-directory.ts";
import type { DiskView } from "../files/disk-view.ts";
import { cannotProvide } from "./cannot-provide.ts";
import { credentialPaths } from "./credential-paths.ts";
import { namedBySettings } from "./git-settings.ts";
import { listeningSockets } from "./listening-sockets.ts";
import { firstOddity, lookAt, realOfMissing } from "./look-at.ts";
import { withMachineLock } from "./machine-lock.ts";
import { aliasesOf, readMountTable } from "./mount-table.ts";
import { moveAside } from "./move-aside.ts";
import { isPlaceholder, type Placeholder, placeFolder } from "./placeholders.ts";
import { isWithin, policyPath } from "./policy-path.ts";
import { gitNames } from "./policy-places.ts";
import { OWN_PLACE, type SandboxPlace } from "./sandbox-place.ts";
import type { SandboxPolicy } from "./sandbox-policy.ts";
import { findRoots } from "./sandbox-roots.ts";
import { stateFolder } from "./state-folder.ts";
import { openSteeringRoot } from "./steering-watch.ts";
import type { SteeringReport } from "./steering-report.ts";
import { bytesOf } from "./folder-listing.ts";

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

// Later ones win at the same path.
const ORDER: readonly Mount["as"][] = ["writable", "read-only", "hidden-folder", "hidden-file"];

/**
 * Works out the mounts of one command. What is denied and does not exist gets a placeholder until disposed; what steers later work and comes to be
 * is moved aside then.
 * @param shown folders that can be read in any case
 * @param report gets what was moved aside: at the start entries that other commands left, then those of this one
 */
export async function prepareMounts(
  policy: SandboxPolicy,
  workspace: string,
  shown: readonly string[] = [],
  place: SandboxPlace = OWN_PLACE,
  report: SteeringReport = { movedAside: [], notices: [], kept: [] },
): Promise<SandboxMounts> {
  const { clearAway, ...mounts } = await oneAtATime(() => planMounts(policy, workspace, shown, place, report));
  return { ...mounts, [Symbol.asyncDispose]: () => oneAtATime(clearAway) };
}

/** One command's placeholders are looked for, put and taken away while no other's are, in whichever process: what was seen must hold until it is acted on. */
function oneAtATime<T>(work: () => Promise<T>): Promise<T> {
  return withMachineLock("keelson-sandbox-placeholders", work);
}

async function planMounts(
  policy: SandboxPolicy,
  workspace: string,
  shown: readonly string[],
  place: SandboxPlace,
  report: SteeringReport,
): Promise<Omit<SandboxMounts, typeof Symbol.asyncDispose> & { clearAway(): Promise<void> }> {
  const { filesystem = {} } = policy;
  const { disk } = place;
  const placeholders: Placeholder[] = [];
  const links = new Map<string, string>();
  const watches: (() => Promise<void>)[] = [];
  const clearAway = async (): Promise<void> => {
    for (const placeholder of placeholders.toReversed()) await placeholder.remove();
    for (const [path, target] of links) report.movedAside.push(...(await restoreLink(path, target, disk)));
    for (const end of watches) await end();
  };
  const planned = new Map<string, Mount["as"]>();
  const plan = (path: string, as: Mount["as"]): void => {
    const before = planned.get(path);
    if (before === undefined || ORDER.indexOf(as) > ORDER.indexOf(before)) planned.set(path, as);
  };
  try {
    const { writableRoots, readableRoots, cacheFolders } = await findRoots(filesystem, workspace, shown, disk);
    for (const root of writableRoots) plan(root, "writable");
    for (const folder of cacheFolders) plan(folder, "writable");
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
        const isHeld = isPlaceholder(at, disk);
        const found = lookAt(at, disk);
        if (found !== undefined && !isHeld) {
          if (found === "folder") continue;
          return;
        }
        const placeholder = await placeFolder(at, disk);
        pin(at);
        if (placeholder !== undefined) placeholders.push(placeholder);
        // Something came to be there meanwhile: it stays as it is.
        plan(at, placeholder === undefined ? "read-only" : "hidden-folder");
        return;
      }
    };
    /** Puts it back after the command; that it is put back here, and not where another folder is by then, is seen to by the mounts. */
    const keepLink = async (path: string): Promise<void> => {
      links.set(path, await disk.readLink(path));
      pin(path);
    };
    /** Paths that do not exist, and that no command may make. */
    const missing: string[] = [];
    const protect = async (root: string, path: string): Promise<void> => {
      const found = firstOddity(root, path, disk);
      if (found?.type === "missing") return void missing.push(path);
      if (found?.type === "link") {
        // A mount can't stand on a link: what it leads to is protected, and the link is put back after the command.
        await keepLink(found.path);
        const named = resolve(dirname(found.path), await disk.readLink(found.path));
        const target = await disk.realPath(found.path).catch(() => undefined);
        if (target === undefined) missing.push(await realOfMissing(named, disk));
        else if (isWritable(target) && !writableRoots.includes(target)) {
          pin(target);
          plan(target, "read-only");
        }
        return;
      }
      const kept = found?.path ?? path;
      pin(kept);
      plan(kept, "read-only");
    };
    const ofGit = gitNames(filesystem);
    const given = filesystem.protectedPaths;
    const opened = [];
    for (const root of writableRoots) {
      const isWorkspace = isWithin(workspace, root) || isWithin(root, workspace);
      opened.push(await openSteeringRoot(root, disk, { isWorkspace, byName: given === undefined, report }));
      for (const path of given ?? []) await protect(root, join(root, path));
      for (const path of given === undefined ? (opened.at(-1)?.kept ?? []) : []) await protect(root, path);
    }
    const repositories = [...new Set(opened.flatMap((root) => root.repositories))];
    const submodules = ofGit.includes("modules")
      ? repositories.filter((repository) => repositories.some((other) => isWithin(repository, join(other, "modules"))))
      : [];
    for (const submodule of submodules) plan(submodule, "writable");
    for (const repository of repositories) {
      const isOfRoot = writableRoots.some((root) => repository === join(root, ".git"));
      for (const path of given === undefined || isOfRoot ? [] : ofGit) await protect(repository, join(repository, path));
      if (!ofGit.includes("hooks")) continue;
      for (const path of await namedBySettings(repository, disk)) {
        const root = writableRoots.find((candidate) => path !== candidate && isWithin(path, candidate));
        if (root !== undefined) await protect(root, path);
      }
    }
    if (given !== undefined && ofGit.includes("commondir"))
      for (const worktree of opened.flatMap((root) => root.worktrees))
        for (const name of ["commondir", "gitdir", "config.worktree"]) await protect(worktree, join(worktree, name));
    // The program that runs all this must be the same afterwards.
    const node = await disk.realPath(process.execPath);
    if (isWritable(node)) {
      pin(node);
      plan(node, "read-only");
    }

    const denied = (filesystem.deniedPaths ?? []).map((path) => policyPath(path, workspace));
    for (const path of denied) {
      const root = writableRoots.find((candidate) => isWithin(path, candidate));
      const found = root === undefined ? undefined : firstOddity(root, path, disk);
      // Turned elsewhere, it would no longer say what is to be hidden from the next command.
      if (found?.type === "link") await keepLink(found.path);
    }
    if (filesystem.hideCredentials !== false) {
      // One that is missing where commands can't write stays missing.
      const credentials = credentialPaths();
      denied.push(...credentials.filter((path) => isWritable(path) || lookAt(path, disk) !== undefined));
    }
    // A command that could change the notes on it would hide what it made.
    const notes = stateFolder();
    if (notes !== undefined && isWritable(notes)) denied.push(notes);
    const table = await place.mountTable().catch(() => []);
    // What is hidden in a mount over a folder is hidden in the folder, too, where that shows elsewhere.
    const tables = place === OWN_PLACE ? [table] : [table, await readMountTable("self").catch(() => [])];
    const looked = await Promise.all(
      denied.map(async (named) => {
        const path = await disk.realPath(named).catch(() => undefined);
        // What another command put there is gone with that: this one needs its own.
        if (path !== undefined && isPlaceholder(path, disk)) return { missing: path };
        return path === undefined ? { missing: await realOfMissing(named, disk) } : { path };
      }),
    );
    for (const { path, missing: absent } of looked) {
      if (path === undefined) {
        const root = writableRoots.find((candidate) => isWithin(absent, candidate));
        if (root !== undefined) await hold(root, absent);
        continue;
      }
      if (writableRoots.includes(path)) throw cannotProvide(`${path} is both denied and a writable root`);
      if (path === "/") throw cannotProvide("the whole file system is denied");
      // What is mounted at several places is hidden at each.
      for (const alias of [path, ...new Set(tables.flatMap((entries) => aliasesOf(path, entries)))]) {
        const found = alias === path || (await disk.realPath(alias).catch(() => undefined)) === alias ? lookAt(alias, disk) : undefined;
        if (found === undefined || (alias !== path && isHiddenAnyway(alias) && !isWritable(alias))) continue;
        if (isWritable(alias)) pin(alias);
        plan(alias, found === "folder" ? "hidden-folder" : "hidden-file");
      }
    }
    for (const path of await listeningSockets())
      if (lookAt(path, disk) !== undefined && (!isHiddenAnyway(path) || isWritable(path)) && !planned.has(path)) plan(path, "hidden-file");

    report.kept = given === undefined ? opened.flatMap((root) => root.kept) : [];
    for (const root of opened) watches.push(root.watch(missing));
    // A deeper path is mounted after those above it, so it is what holds there.
    const mounts = [...planned]
      .map(([path, as]) => ({ path, as }))
      .toSorted((one, other) => depth(one.path) - depth(other.path) || (one.path < other.path ? -1 : 1));
    return {
      mounts: withoutThoseInHidden(
        withoutPinsInKept(mounts, [...writableRoots, ...submodules, ...cacheFolders]),
        writableRoots,
        readableRoots,
        cacheFolders,
      ),
      writableRoots,
      clearAway,
    };
  } catch (error) {
    await clearAway();
    if (VfsError.is(error)) throw cannotProvide(error.message.replace(/\.$/, ""), error);
    throw error;
  }
}

/** In a folder that is kept as it is, nothing becomes writable for being on the way to something deeper. */
function withoutPinsInKept(mounts: readonly Mount[], meantWritable: readonly string[]): Mount[] {
  const kept: Mount[] = [];
  for (const mount of mounts) {
    const above = kept.findLast(({ path }) => isWithin(mount.path, path));
    if (mount.as !== "writable" || meantWritable.includes(mount.path) || above?.as === "writable") kept.push(mount);
  }
  return kept;
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

/** Puts a protected link back. @returns the entry in its place, which was moved aside */
async function restoreLink(path: string, target: string, disk: DiskView): Promise<readonly MovedEntry[]> {
  await using folder = await openDirectory(dirname(path), dirname(path), disk).catch((error: unknown) => {
    // Somebody outside moved its folder, and the link with it: commands can't.
    if (VfsError.is(error, "not-found") || VfsError.is(error, "path-traversal")) return undefined;
    throw error;
  });
  if (folder === undefined) return [];
  const at = folder.at(basename(path));
  if ((await readlink(at).catch(() => undefined)) === target) return [];
  const moved = await moveAside(dirname(path), bytesOf(basename(path)), disk);
  if (moved?.problem === undefined) await symlink(target, at);
  return moved === undefined ? [] : [moved];
}

function isHiddenAnyway(path: string): boolean {
  return ["/run", "/var/run", "/tmp", "/var/tmp", "/dev", "/proc", "/sys"].some((folder) => isWithin(path, folder));
}

function depth(path: string): number {
  return path.split("/").length;
}
