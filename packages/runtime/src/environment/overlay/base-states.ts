import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync, type Stats } from "node:fs";
import { lstat, readFile, readlink, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { systemCode } from "../files/vfs-error-from.ts";
import { allOf } from "./all-of.ts";
import { atEntry, copyOriginal, namesIn, readOriginal, unlessReplaced } from "./anchored-entry.ts";

/** What stood at a path of the base. */
export type BaseState =
  | { readonly type: "absent" }
  | BaseFile
  | { readonly type: "link"; readonly target: string }
  /** `isWhole`: every path below it was looked at, too; one without a state was not there. */
  | { readonly type: "folder"; readonly mode: number; readonly isWhole?: true }
  | { readonly type: "other" }
  /** It may have changed between the first change here and the first look at it. */
  | { readonly type: "unknown" };

export interface BaseFile {
  readonly type: "file";
  readonly mode: number;
  readonly size: number;
  readonly modifiedMs: number;
  readonly changedMs: number;
  readonly inode: number;
  /** It had changed only just before it was looked at: its times would not tell of another change. */
  readonly isFresh?: true;
  readonly digest?: string;
  /** Name of a copy of its content. */
  readonly original?: string;
}

/** How much of a path is looked at: what stands there with its content, or without that, but with all that is below it. */
export type LookedAt = "with-content" | "with-all-below";

/** What the base was when each path was first changed in an overlay. Kept on the disk as it comes. */
export interface BaseStates {
  /** `undefined` for a path that was never looked at. */
  get(path: string): BaseState | undefined;
  /** Nothing was looked at: nothing is changed. */
  readonly isEmpty: boolean;
  /** Names in a folder that were looked at, or in which something was. */
  namesIn(folder: string): readonly string[];
  /**
   * Looks at a path unless that was done, from above: what is below a missing folder is missing.
   * @param unsureSinceMs what changed in the base at this time or later is of an unknown state
   */
  look(path: string, how: LookedAt, unsureSinceMs?: number): Promise<void>;
  /** As `look`, at several paths, none of which is below another: some at once. */
  lookAtAll(looks: ReadonlyMap<string, LookedAt>, unsureSinceMs?: number): Promise<void>;
  /** The content of a file when it was looked at, as far as it was kept. */
  originalOf(state: BaseFile): Promise<Buffer | undefined>;
}

// Larger files are not merged.
const MAX_KEPT_BYTES = 8 * 1024 * 1024;
// Kernels tell times of files in steps of some milliseconds.
const FRESH_MS = 50;
const STATES = "states.jsonl";
const ORIGINALS = "originals";

/** @param folder where they are kept */
export function createBaseStates(base: string, folder: string): BaseStates {
  const states = new Map<string, BaseState>();
  const names = new Map<string, Set<string>>();
  let originals = 0;
  const file = join(folder, STATES);
  mkdirSync(join(folder, ORIGINALS), { recursive: true });

  const remember = (path: string, state: BaseState): void => {
    states.set(path, state);
    for (const inner of [path, ...ancestors(path)]) {
      const above = parentOf(inner);
      let siblings = names.get(above);
      if (siblings === undefined) names.set(above, (siblings = new Set()));
      siblings.add(inner.slice(above === "" ? 0 : above.length + 1));
    }
    if (state.type === "file" && state.original !== undefined) originals = Math.max(originals, Number(state.original) + 1);
  };
  if (existsSync(file))
    // A line that was cut off by the end of its process is of a change that was not made yet.
    for (const line of readFileSync(file, "utf8").split("\n").slice(0, -1)) {
      const { path, ...state } = JSON.parse(line) as BaseState & { readonly path: string };
      remember(path, state);
    }

  function get(path: string): BaseState | undefined {
    const own = states.get(path);
    if (own !== undefined) return own;
    for (let at = parentOf(path); at !== ""; at = parentOf(at)) {
      const above = states.get(at);
      if (above === undefined) continue;
      return above.type === "unknown" || (above.type === "folder" && above.isWhole !== true) ? undefined : { type: "absent" };
    }
    return undefined;
  }
  function keep(path: string, state: BaseState): void {
    // At once: the state has to be there when the change is.
    appendFileSync(file, `${JSON.stringify({ path, ...state })}\n`);
    remember(path, state);
  }

  async function look(path: string, how: LookedAt, unsureSinceMs?: number): Promise<void> {
    if (path === "") return;
    // What is above a path that was looked at was a folder then.
    for (const above of states.has(path) ? [] : ancestors(path)) {
      const known = get(above);
      if (known?.type === "folder") continue;
      if (known !== undefined) return;
      const stats = await statsIn(above);
      if (stats === undefined) return keep(above, { type: "absent" });
      // It was a folder a moment ago, or there would be no change below it.
      if (!stats.isDirectory()) return keep(above, { type: "unknown" });
    }
    const known = get(path);
    if (known === undefined || (how === "with-all-below" && isUnseen(known))) await lookAt(path, await statsIn(path), how, unsureSinceMs);
    else if (known.type === "file" && known.digest === undefined && how === "with-content") {
      // It was removed, and comes back as another: its content is needed for a merge after all.
      const now = await inBase(path, async (location) => fileState(location, await statsOf(location), true));
      if (now?.modifiedMs === known.modifiedMs && now.size === known.size && now.inode === known.inode) keep(path, now);
    }
  }
  async function lookAt(path: string, stats: Stats | undefined, how: LookedAt, unsureSinceMs?: number): Promise<void> {
    const known = states.get(path);
    if (known !== undefined && stats?.isDirectory() !== true) return;
    if (stats === undefined) return keep(path, { type: "absent" });
    if (!stats.isDirectory() && unsureSinceMs !== undefined && stats.ctimeMs >= unsureSinceMs) return keep(path, { type: "unknown" });
    if (stats.isSymbolicLink()) {
      const target = await inBase(path, (location) => readlink(location));
      return keep(path, target === undefined ? { type: "unknown" } : { type: "link", target });
    }
    if (stats.isFile()) {
      const state = await inBase(path, (location) => fileState(location, stats, how === "with-content"));
      return keep(path, state ?? { type: "unknown" });
    }
    if (!stats.isDirectory()) return keep(path, { type: "other" });
    // The first look counts, also where it was not one at what is in the folder.
    const mode = known?.type === "folder" ? known.mode : stats.mode & 0o7777;
    if (how === "with-content") return keep(path, { type: "folder", mode });
    const folders: string[] = [];
    await allOf(await namesIn(base, join(base, path)), async (name) => {
      const inner = `${path}/${name}`;
      if (!isUnseen(states.get(inner))) return;
      const innerStats = await statsIn(inner);
      if (innerStats?.isDirectory()) folders.push(inner);
      else await lookAt(inner, innerStats, how, unsureSinceMs);
    });
    for (const inner of folders) await lookAt(inner, await statsIn(inner), how, unsureSinceMs);
    keep(path, { type: "folder", mode, isWhole: true });
  }
  const inBase = <T>(path: string, look: (location: string) => Promise<T>): Promise<T | undefined> =>
    atEntry(base, join(base, path), (location) => unlessReplaced(look(location)));
  const statsIn = (path: string): Promise<Stats | undefined> => statsInBase(base, path);
  /** `undefined` when it changes while it is being read. */
  async function fileState(location: string, stats: Stats | undefined, withContent: boolean): Promise<BaseFile | undefined> {
    if (stats?.isFile() !== true) return undefined;
    const seen = {
      type: "file" as const,
      mode: stats.mode & 0o7777,
      size: stats.size,
      modifiedMs: stats.mtimeMs,
      changedMs: stats.ctimeMs,
      inode: stats.ino,
      ...(Date.now() - stats.ctimeMs < FRESH_MS && { isFresh: true as const }),
    };
    if (!withContent) return seen;
    if (stats.size > MAX_KEPT_BYTES) return { ...seen, digest: await digestOf(location) };
    const original = String(originals++);
    const copy = join(folder, ORIGINALS, original);
    await rm(copy, { force: true }); // of a process that ended before it noted its state
    await copyOriginal(location, copy);
    const after = await statsOf(location);
    if (after?.ctimeMs !== stats.ctimeMs || after.size !== stats.size) return undefined;
    return { ...seen, digest: await digestOf(copy), original };
  }

  let last: Promise<void> = Promise.resolve();
  /** The first look at a path is the one that counts. */
  function inTurn(work: () => Promise<void>): Promise<void> {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  }
  return {
    get isEmpty() {
      return states.size === 0;
    },
    get,
    look: (path, how, unsureSinceMs) => inTurn(() => look(path, how, unsureSinceMs)),
    lookAtAll: (looks, unsureSinceMs) =>
      inTurn(async () => {
        await allOf([...looks], ([path, how]) => look(path, how, unsureSinceMs));
      }),
    namesIn: (path) => [...(names.get(path) ?? [])],
    originalOf: async ({ original }) => (original === undefined ? undefined : readFile(join(folder, ORIGINALS, original))),
  };
}

/** Whether a path was not looked at, or is a folder of which not everything below was. */
function isUnseen(state: BaseState | undefined): boolean {
  return state === undefined || (state.type === "folder" && state.isWhole !== true);
}

/** Whether what stands in the base is still what was seen, but for its mode. */
export async function isUnchanged(location: string, stats: Stats | undefined, state: BaseState): Promise<boolean> {
  switch (state.type) {
    case "absent":
      return stats === undefined;
    case "folder":
      return stats?.isDirectory() === true;
    case "link":
      return stats?.isSymbolicLink() === true && (await readlink(location)) === state.target;
    case "file": {
      if (stats?.isFile() !== true || stats.size !== state.size) return false;
      if (state.digest === undefined) return stats.ino === state.inode && stats.mtimeMs === state.modifiedMs;
      if (stats.ino === state.inode && stats.ctimeMs === state.changedMs && state.isFresh !== true) return true;
      return (await digestOf(location)) === state.digest;
    }
    case "other":
    case "unknown":
      return false;
  }
}

export async function digestOf(location: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(await readOriginal(location), hash);
  return hash.digest("base64url");
}

/** What stands there, a link not followed. */
export async function statsOf(location: string): Promise<Stats | undefined> {
  try {
    return await lstat(location);
  } catch (error) {
    // A name that is too long for the disk names nothing.
    if (["ENOENT", "ENOTDIR", "ENAMETOOLONG"].includes(systemCode(error) ?? "")) return undefined;
    throw error;
  }
}

/** What stands at a path below the base; nothing where a link is on the way. */
export async function statsInBase(base: string, path: string): Promise<Stats | undefined> {
  return atEntry(base, join(base, path), statsOf);
}

export function parentOf(path: string): string {
  const at = path.lastIndexOf("/");
  return at === -1 ? "" : path.slice(0, at);
}

/** The folders above a path, from above. */
export function ancestors(path: string): string[] {
  const found: string[] = [];
  for (let at = parentOf(path); at !== ""; at = parentOf(at)) found.unshift(at);
  return found;
}
