import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ancestors, type BaseState, type BaseStates, digestOf, isUnchanged, statsOf } from "./base-states.ts";
import { type LineMerger, mergeLines, textOf } from "./merge-lines.ts";
import { type Change, entryOf, type WorkspaceEntry } from "./overlay-changes.ts";

/** A change that can't be carried out in the base, since that changed meanwhile. */
export interface OverlayConflict {
  /** Below the workspace. */
  readonly path: string;
  /** What happened on both sides, in a sentence. */
  readonly reason: string;
}

/** What one change makes of the base. */
export interface PlannedChange {
  readonly path: string;
  /** What stands in the base, and must still do when it is changed. */
  readonly was: WorkspaceEntry;
  readonly becomes:
    | { readonly type: "absent" }
    | { readonly type: "folder"; readonly mode: number }
    | { readonly type: "link"; readonly target: string }
    | { readonly type: "file"; readonly mode: number; readonly content: { readonly location: string } | { readonly text: string } };
}

export interface CommitPlan {
  readonly changes: readonly PlannedChange[];
  readonly conflicts: readonly OverlayConflict[];
  /** Of files that both sides changed. */
  readonly merged: readonly string[];
}

/** Who wins a conflict; `undefined`: nobody, and nothing is committed. */
export type Resolution = "ours" | "theirs" | undefined;

/** Three ways: what the base was, what the overlay made of it, and what the base is by now. */
export async function planCommit(
  base: string,
  states: BaseStates,
  found: readonly Change[],
  loadMerger: () => Promise<LineMerger>,
  resolve: (conflict: OverlayConflict) => Resolution | Promise<Resolution>,
): Promise<CommitPlan> {
  const changes: PlannedChange[] = [];
  const conflicts: OverlayConflict[] = [];
  const merged: string[] = [];
  /** Folders that stay although they were removed here, since something in them stays. */
  const staying = new Set<string>();
  /** Become folders, and were none in the base: nothing of it is below them. */
  const opened = new Set<string>();
  /** Folders here that are not made in the base, nor is what is in them. */
  const unmade = new Set<string>();

  for (const { path, before, now } of found) {
    if (ancestors(path).some((above) => unmade.has(above))) continue;
    const location = join(base, path);
    const fileInTheWay = await fileAbove(base, path);
    const blocked = fileInTheWay !== undefined && opened.has(fileInTheWay) ? undefined : fileInTheWay;
    const stats = fileInTheWay === undefined ? await statsOf(location) : undefined;
    const theirs: WorkspaceEntry = stats === undefined ? { type: "absent" } : await entryOf(location, stats);
    const becomes = plannedEntry(now);
    const add = (change: PlannedChange["becomes"]): void => {
      changes.push({ path, was: theirs, becomes: change });
      if (change.type === "folder" && theirs.type !== "folder") opened.add(path);
    };
    const conflict = async (reason: string): Promise<void> => {
      const resolution = await resolve({ path, reason });
      if (resolution === "ours" && becomes !== undefined) {
        if (blocked !== undefined) await makeFolder(blocked);
        return add(becomes);
      }
      if (resolution === undefined) conflicts.push({ path, reason });
      else for (const above of ancestors(path)) staying.add(above);
      if (now.type === "folder" && theirs.type !== "folder") unmade.add(path);
    };
    if (becomes === undefined) {
      await conflict("here it is a pipe, socket or device now, which can't be committed");
      continue;
    }
    if (blocked !== undefined) {
      if (now.type !== "absent") await conflict(`in the base, ${blocked} is no folder any more`);
      continue;
    }
    if (await isEqual(theirs, now)) continue;
    if (before.type === "folder" && now.type === "folder" && theirs.type === "folder") {
      add(becomes);
      continue;
    }
    if (await isUnchanged(location, stats, before)) {
      const modes = modesOf(before, now, theirs);
      if (modes === "conflict") await conflict("both sides gave it another mode");
      else add(becomes.type === "file" && modes !== undefined ? { ...becomes, mode: modes } : becomes);
      continue;
    }
    if (before.type === "file" && now.type === "file" && theirs.type === "file") {
      const [original, ours, other] = [await states.originalOf(before), await readFile(now.location), await readFile(theirs.location)].map(
        (bytes) => bytes && textOf(bytes),
      );
      const modes = modesOf(before, now, theirs);
      if (original !== undefined && ours !== undefined && other !== undefined && modes !== "conflict") {
        const text = ours === original ? other : mergeLines(await loadMerger(), original, ours, other);
        if (text !== undefined) {
          if (ours !== original) merged.push(path);
          add({ type: "file", mode: modes ?? now.mode, content: { text } });
          continue;
        }
        await conflict("both sides changed the same lines");
        continue;
      }
    }
    await conflict(`${said(before, theirs)} in the base, and ${said(before, now)} here`);
  }
  await refuseToEmpty();
  return { changes: changes.filter(({ path, becomes }) => becomes.type !== "absent" || !staying.has(path)), conflicts, merged };

  /** Where the base has something else by now, and what is in the folder here is to stand. */
  async function makeFolder(path: string): Promise<void> {
    const location = join(base, path);
    const [stats, before] = [await statsOf(location), states.get(path)];
    const was: WorkspaceEntry = stats === undefined ? { type: "absent" } : await entryOf(location, stats);
    const mode = before?.type === "folder" ? before.mode : 0o777 & ~process.umask();
    changes.push({ path, was, becomes: { type: "folder", mode } });
    opened.add(path);
  }
  /** A folder that is removed here must hold nothing in the base that was not there when that was decided. */
  async function refuseToEmpty(): Promise<void> {
    const removed = new Set(changes.filter(({ becomes }) => becomes.type !== "folder").map(({ path }) => path));
    for (const { path, was, becomes } of [...changes]) {
      if (was.type !== "folder" || becomes.type === "folder") continue;
      for (const name of await readdir(join(base, path))) {
        const inner = `${path}/${name}`;
        if (removed.has(inner) || conflicts.some((conflict) => conflict.path === inner || conflict.path.startsWith(`${inner}/`))) continue;
        if (staying.has(path) && staying.has(inner)) continue;
        const reason = "it came to be in the base, in a folder that was removed here";
        if ((await resolve({ path: inner, reason })) === "theirs" && becomes.type === "absent")
          for (const above of [...ancestors(path), path]) staying.add(above);
        else conflicts.push({ path: inner, reason });
      }
    }
  }
}

function plannedEntry(now: WorkspaceEntry): PlannedChange["becomes"] | undefined {
  switch (now.type) {
    case "file":
      return { type: "file", mode: now.mode, content: { location: now.location } };
    case "other":
      return undefined;
    case "absent":
    case "folder":
    case "link":
      return now;
  }
}

/** The first part of the way to a path that is something else than a folder in the base. */
async function fileAbove(base: string, path: string): Promise<string | undefined> {
  for (const above of ancestors(path)) {
    const stats = await statsOf(join(base, above));
    if (stats === undefined) return undefined;
    if (!stats.isDirectory()) return above;
  }
  return undefined;
}

async function isEqual(one: WorkspaceEntry, other: WorkspaceEntry): Promise<boolean> {
  if (one.type === "file" && other.type === "file") {
    if (one.size !== other.size || one.mode !== other.mode) return false;
    return (await digestOf(one.location)) === (await digestOf(other.location));
  }
  if (one.type === "link" && other.type === "link") return one.target === other.target;
  if (one.type === "folder" && other.type === "folder") return one.mode === other.mode;
  return one.type === other.type && one.type !== "other";
}

/** The mode that a file gets where one side changed it; `undefined` where that is no question. */
function modesOf(before: BaseState, now: WorkspaceEntry, theirs: WorkspaceEntry): number | "conflict" | undefined {
  if (before.type !== "file" || now.type !== "file" || theirs.type !== "file") return undefined;
  if (now.mode === before.mode) return theirs.mode;
  return theirs.mode === before.mode || theirs.mode === now.mode ? now.mode : "conflict";
}

function said(before: BaseState, after: WorkspaceEntry): string {
  if (after.type === "absent") return "it was removed";
  if (before.type === "absent") return "it was added";
  return before.type === "unknown" ? "it may have been changed" : "it was changed";
}
