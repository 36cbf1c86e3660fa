import { join } from "node:path";
import { atEntry } from "./anchored-entry.ts";
import { ancestors, type BaseStates, statsInBase, statsOf } from "./base-states.ts";
import { type BaseSide, compareSides, NOTHING, type Verdict } from "./compare-sides.ts";
import type { LineMerger } from "./merge-lines.ts";
import { type Change, entryOf, namesInBase, type WorkspaceEntry } from "./overlay-changes.ts";
import type { PlannedChange } from "./planned-change.ts";

/** A change that can't be carried out in the base, since that changed meanwhile. */
export interface OverlayConflict {
  /** Below the workspace. */
  readonly path: string;
  /** What happened on both sides, in a sentence. */
  readonly reason: string;
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

  for (const change of found) {
    const { path, now } = change;
    if (ancestors(path).some((above) => unmade.has(above))) continue;
    const fileInTheWay = await fileAbove(base, path);
    const blocked = fileInTheWay !== undefined && opened.has(fileInTheWay) ? undefined : fileInTheWay;
    const becomes = plannedEntry(now);
    const { theirs, verdict } = await lookAtBase(fileInTheWay === undefined ? path : undefined, async (side): Promise<Verdict> => {
      if (becomes === undefined) return { conflict: "here it is a pipe, socket or device now, which can't be committed" };
      if (blocked === undefined) return compareSides(change, becomes, side, states, loadMerger);
      return now.type === "absent" ? {} : { conflict: `in the base, ${blocked} is no folder any more` };
    });
    const add = (planned: PlannedChange["becomes"]): void => {
      changes.push({ path, was: theirs, becomes: planned });
      if (planned.type === "folder" && theirs.type !== "folder") opened.add(path);
    };
    if (!("conflict" in verdict)) {
      if (verdict.becomes !== undefined) add(verdict.becomes);
      if (verdict.isMerged === true) merged.push(path);
      continue;
    }
    const resolution = await resolve({ path, reason: verdict.conflict });
    if (resolution === "ours" && becomes !== undefined) {
      if (blocked !== undefined) await makeFolder(blocked);
      add(becomes);
      continue;
    }
    if (resolution === undefined) conflicts.push({ path, reason: verdict.conflict });
    else for (const above of ancestors(path)) staying.add(above);
    if (now.type === "folder" && theirs.type !== "folder") unmade.add(path);
  }
  await refuseToEmpty();
  return { changes: changes.filter(({ path, becomes }) => becomes.type !== "absent" || !staying.has(path)), conflicts, merged };

  /** What stands at the path in the base, and what that makes of a change; nothing where a link is on the way, or where there is no path. */
  async function lookAtBase(
    path: string | undefined,
    judge: (side: BaseSide) => Promise<Verdict>,
  ): Promise<{ readonly theirs: WorkspaceEntry; readonly verdict: Verdict }> {
    const look = async (location: string): Promise<{ readonly theirs: WorkspaceEntry; readonly verdict: Verdict }> => {
      const stats = await statsOf(location);
      const theirs = await entryOf(location, stats);
      return { theirs, verdict: await judge({ location, stats, theirs }) };
    };
    const seen = path === undefined ? undefined : await atEntry(base, join(base, path), look);
    return seen ?? { theirs: NOTHING.theirs, verdict: await judge(NOTHING) };
  }
  /** Where the base has something else by now, and what is in the folder here is to stand. */
  async function makeFolder(path: string): Promise<void> {
    const before = states.get(path);
    const { theirs: was } = await lookAtBase(path, async () => ({}));
    const mode = before?.type === "folder" ? before.mode : 0o777 & ~process.umask();
    changes.push({ path, was, becomes: { type: "folder", mode } });
    opened.add(path);
  }
  /** A folder that is removed here must hold nothing in the base that was not there when that was decided. */
  async function refuseToEmpty(): Promise<void> {
    const removed = new Set(changes.filter(({ becomes }) => becomes.type !== "folder").map(({ path }) => path));
    for (const { path, was, becomes } of [...changes]) {
      if (was.type !== "folder" || becomes.type === "folder") continue;
      for (const name of await namesInBase(base, path)) {
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
    const stats = await statsInBase(base, above);
    if (stats === undefined) return undefined;
    if (!stats.isDirectory()) return above;
  }
  return undefined;
}
