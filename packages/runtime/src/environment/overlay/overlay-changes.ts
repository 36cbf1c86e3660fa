import type { Stats } from "node:fs";
import { readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import { openDirectory } from "../files/anchored-directory.ts";
import { leadsNowhere } from "./base-entry.ts";
import { type BaseState, type BaseStates, digestOf, statsInBase, statsOf } from "./base-states.ts";
import { isMarked, marksBeside } from "../sandbox/placeholders.ts";
import type { OverlayLayer } from "./overlay-layer.ts";

/** What stands at a path of the workspace. */
export type WorkspaceEntry =
  | { readonly type: "absent" }
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

// What is written beside its place before it is put there; left by a process that was killed meanwhile.
const TEMPORARY = /^\.keelson-[\w-]+\.tmp$/;

/** Looks at what the base is wherever the layer changed something that was not looked at yet, as after commands. */
export async function lookAtChanges(base: string, layer: OverlayLayer, states: BaseStates): Promise<void> {
  const { unsureSinceMs } = layer;
  const visit = async (folder: string): Promise<void> => {
    const [held, names] = [await layer.held(folder), new Set(await layer.list(folder))];
    for (const name of held) {
      if (await isPassing(layer, folder, name)) continue;
      const path = below(folder, name);
      const [now, original] = [await entryAt(layer, path), await statsInBase(base, path)];
      // A folder in the place of a folder says nothing by itself: what is in it does.
      if (now.type === "folder" && original?.isDirectory()) {
        await states.look(path, "with-content", unsureSinceMs);
        await visit(path);
      } else if (now.type === "folder" && states.get(path) === undefined && states.namesIn(path).length > 0) {
        // It was a folder when what is in it was looked at.
        await visit(path);
      } else await states.look(path, original?.isDirectory() ? "with-all-below" : "with-content", unsureSinceMs);
    }
    if (isWhole(states, folder)) return;
    for (const name of await namesInBase(base, folder)) {
      const path = below(folder, name);
      if (names.has(name) || held.includes(name) || (await layer.showed?.(path)) === false) continue;
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
  const visit = async (path: string): Promise<void> => {
    const now = await entryAt(layer, path);
    const before = states.get(path) ?? { type: "unknown" };
    // A folder that was never looked at was not changed itself.
    const isOnTheWay = now.type === "folder" && states.get(path) === undefined;
    if (!isOnTheWay && !(await isSame(before, now))) changes.push({ path, before, now });
    if (now.type === "folder" || before.type === "folder") await visitBelow(path, now.type === "folder");
  };
  const visitBelow = async (path: string, isFolder: boolean): Promise<void> => {
    const isNew = path !== "" && (states.get(path)?.type ?? "folder") !== "folder";
    const names = new Set(states.namesIn(path));
    if (isFolder) for (const name of await (isNew ? layer.list(path) : layer.held(path))) names.add(name);
    for (const name of [...names].sort()) if (!(await isPassing(layer, path, name))) await visit(below(path, name));
  };
  await visitBelow(folder, true);
  return changes;
}

/** Whether it stands there only while something is being done, or since that was cut off. */
async function isPassing(layer: OverlayLayer, folder: string, name: string): Promise<boolean> {
  if (TEMPORARY.test(name)) return true;
  const path = below(folder, name);
  for (const marked of [path, marksBeside(path)])
    if ((await statsOf(await layer.at(marked)))?.isDirectory() && isMarked(await layer.list(marked))) return true;
  return false;
}

export async function entryAt(layer: OverlayLayer, path: string): Promise<WorkspaceEntry> {
  const location = await layer.at(path);
  const stats = await statsOf(location);
  if (stats === undefined) return { type: "absent" };
  return entryOf(location, stats);
}

export async function entryOf(location: string, stats: Stats): Promise<WorkspaceEntry> {
  const mode = stats.mode & 0o7777;
  if (stats.isFile()) return { type: "file", mode, size: stats.size, location };
  if (stats.isDirectory()) return { type: "folder", mode };
  if (stats.isSymbolicLink()) return { type: "link", target: await readlink(location) };
  return { type: "other" };
}

async function isSame(before: BaseState, now: WorkspaceEntry): Promise<boolean> {
  switch (now.type) {
    case "absent":
      return before.type === "absent";
    case "folder":
      return before.type === "folder" && before.mode === now.mode;
    case "file": {
      if (before.type !== "file" || before.mode !== now.mode || before.size !== now.size) return false;
      if (before.digest !== undefined) return (await digestOf(now.location)) === before.digest;
      // It was to be removed and was not, so its content was never read: it is still the base's own file.
      const stats = await statsOf(now.location);
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
  try {
    await using open = await openDirectory(join(base, folder), base);
    return await readdir(open.self);
  } catch (error) {
    if (leadsNowhere(error)) return [];
    throw error;
  }
}

function isWhole(states: BaseStates, folder: string): boolean {
  const state = states.get(folder);
  return state?.type === "folder" && state.isWhole === true;
}

function below(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}
