import type { Stats } from "node:fs";
import { readlink } from "node:fs/promises";
import { basename, join } from "node:path/posix";
import { allOf } from "./all-of.ts";
import { namesIn, unlessReplaced } from "./anchored-entry.ts";
import { type BaseState, type BaseStates, digestOf, type LookedAt, statsInBase, statsOf } from "./base-states.ts";
import { isTemporaryName } from "../files/temporary-file.ts";
import { isMarked } from "../sandbox/placeholders.ts";
import type { OverlayLayer } from "./overlay-layer.ts";

/** What stands at a path of the workspace. */
export type WorkspaceEntry =
  | { readonly type: "absent" }
  /** `location`: as of `OverlayLayer.at`. */
  | { readonly type: "file"; readonly mode: number; readonly size: number; readonly location: string }
  | { readonly type: "link"; readonly target: string }
  | { readonly type: "folder"; readonly mode: number }
  | { readonly type: "other" };

/** A path at which the workspace is not as the base was. */
export interface Change {
  /** Below the workspace. */
  readonly path: string;
  readonly before: BaseState;
  readonly now: WorkspaceEntry;
}

const ABSENT: WorkspaceEntry = { type: "absent" };

/** Looks at what the base is wherever the layer changed something that was not looked at yet, as after commands. */
export async function lookAtChanges(base: string, layer: OverlayLayer, states: BaseStates): Promise<void> {
  const { unsureSinceMs } = layer;
  const visit = async (folder: string): Promise<void> => {
    const [held, names] = [new Set(await layer.held(folder)), new Set(await layer.list(folder))];
    const seen = await allOf([...held], async (name) => {
      const path = below(folder, name);
      const now = await entryAt(layer, path);
      if (await isPassing(layer, path, now)) return undefined;
      return { path, now, original: await statsInBase(base, path) };
    });
    const looks = new Map<string, LookedAt>();
    const folders: string[] = [];
    for (const { path, now, original } of seen.filter((entry) => entry !== undefined)) {
      // A folder in the place of a folder says nothing by itself: what is in it does.
      if (now.type === "folder" && original?.isDirectory()) looks.set(path, "with-content");
      // It was a folder when what is in it was looked at.
      else if (now.type !== "folder" || states.get(path) !== undefined || states.namesIn(path).length === 0) {
        looks.set(path, original?.isDirectory() ? "with-all-below" : "with-content");
        continue;
      }
      folders.push(path);
    }
    await states.lookAtAll(looks, unsureSinceMs);
    for (const path of folders) await visit(path);
    if (isWhole(states, folder)) return;
    for (const name of await namesInBase(base, folder)) {
      const path = below(folder, name);
      if (names.has(name) || held.has(name) || (await layer.showed?.(path)) === false) continue;
      // Without a trace of its own: the whole folder is another one. What comes to be in the base's from now on was never in it.
      if (layer.hidesFolders === true) return states.look(folder, "with-all-below", unsureSinceMs);
      await states.look(path, "with-all-below", unsureSinceMs);
    }
  };
  await visit("");
}

/** All changes; a folder stands before what is in it. */
export async function collectChanges(layer: OverlayLayer, states: BaseStates, folder = ""): Promise<Change[]> {
  const changes: Change[] = [];
  /** @param isFolder whether it is one now; where it became a link, paths below it lead to something else */
  const visit = async (folder: string, isFolder: boolean): Promise<void> => {
    const isNew = folder !== "" && (states.get(folder)?.type ?? "folder") !== "folder";
    const there = new Set(isFolder ? await layer.list(folder) : []);
    const names = new Set([...states.namesIn(folder), ...(isFolder ? (isNew ? there : await layer.held(folder)) : [])]);
    const seen = await allOf([...names].sort(), async (name) => {
      const path = below(folder, name);
      const now: WorkspaceEntry = isFolder ? await entryAt(layer, path) : ABSENT;
      if (isFolder && (await isPassing(layer, path, now))) return undefined;
      const before: BaseState = states.get(path) ?? { type: "unknown" };
      // A folder that was never looked at was not changed itself.
      const isOnTheWay = now.type === "folder" && states.get(path) === undefined;
      return { path, before, now, isChanged: !isOnTheWay && !(await isSame(layer, path, before, now)) };
    });
    for (const { path, before, now, isChanged } of seen.filter((entry) => entry !== undefined)) {
      if (isChanged) changes.push({ path, before, now });
      if (now.type === "folder" || before.type === "folder") await visit(path, now.type === "folder");
    }
  };
  await visit(folder, true);
  return changes;
}

/** True for an entry that exists only during an operation, or that remained after one was interrupted. */
async function isPassing(layer: OverlayLayer, path: string, now: WorkspaceEntry): Promise<boolean> {
  // Left by a process that was killed before it put the file in its place.
  if (isTemporaryName(basename(path))) return true;
  return now.type === "folder" && isMarked(await layer.list(path));
}

async function entryAt(layer: OverlayLayer, path: string): Promise<WorkspaceEntry> {
  const entry = await layer.reach(path, async (location) => entryOf(location, await statsOf(location)));
  return entry?.type === "file" ? { ...entry, location: await layer.at(path) } : (entry ?? ABSENT);
}

/** @param stats of what was seen there */
export async function entryOf(location: string, stats: Stats | undefined): Promise<WorkspaceEntry> {
  if (stats === undefined) return ABSENT;
  const mode = stats.mode & 0o7777;
  if (stats.isFile()) return { type: "file", mode, size: stats.size, location };
  if (stats.isDirectory()) return { type: "folder", mode };
  if (!stats.isSymbolicLink()) return { type: "other" };
  const target = await unlessReplaced(readlink(location));
  return target === undefined ? ABSENT : { type: "link", target };
}

async function isSame(layer: OverlayLayer, path: string, before: BaseState, now: WorkspaceEntry): Promise<boolean> {
  switch (now.type) {
    case "absent":
      return before.type === "absent";
    case "folder":
      return before.type === "folder" && before.mode === now.mode;
    case "file": {
      if (before.type !== "file" || before.mode !== now.mode || before.size !== now.size) return false;
      if (before.digest !== undefined) return (await layer.reach(path, (location) => unlessReplaced(digestOf(location)))) === before.digest;
      // It was to be removed and was not, so its content was never read: it is still the base's own file.
      const stats = await layer.reach(path, statsOf);
      return stats?.ino === before.inode && stats.mtimeMs === before.modifiedMs;
    }
    case "link":
      return before.type === "link" && before.target === now.target;
    case "other":
      return before.type === "other";
  }
}

/** Names in a folder of the base; none where it is no folder. */
export async function namesInBase(base: string, folder: string): Promise<readonly string[]> {
  return namesIn(base, join(base, folder));
}

function isWhole(states: BaseStates, folder: string): boolean {
  const state = states.get(folder);
  return state?.type === "folder" && state.isWhole === true;
}

function below(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}
