import type { Stats } from "node:fs";
import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { readOriginal } from "./anchored-entry.ts";
import { type BaseState, type BaseStates, digestOf, isUnchanged } from "./base-states.ts";
import { type LineMerger, mergeLines, textOf } from "./merge-lines.ts";
import type { Change, WorkspaceEntry } from "./overlay-changes.ts";
import type { PlannedChange } from "./planned-change.ts";

/** What stands at a path of the base by now. */
export interface BaseSide {
  /** Where it is while its folder is held open. */
  readonly location: string;
  readonly stats: Stats | undefined;
  readonly theirs: WorkspaceEntry;
}

export const NOTHING: BaseSide = { location: "", stats: undefined, theirs: { type: "absent" } };

/** What a change makes of the base; nothing where that is so already. */
export type Verdict =
  | { readonly becomes?: PlannedChange["becomes"]; readonly isMerged?: boolean }
  /** Why both sides can't stand, in a sentence. */
  | { readonly conflict: string };

/** Three ways: what the base was, what is here, and what the base is by now. */
export async function compareSides(
  { before, now }: Change,
  becomes: PlannedChange["becomes"],
  { location, stats, theirs }: BaseSide,
  states: BaseStates,
  loadMerger: () => Promise<LineMerger>,
): Promise<Verdict> {
  if (await isEqual(theirs, now)) return {};
  if (before.type === "folder" && now.type === "folder" && theirs.type === "folder") return { becomes };
  const modes = modesOf(before, now, theirs);
  if (await isUnchanged(location, stats, before)) {
    if (modes === "conflict") return { conflict: "both sides gave it another mode" };
    return { becomes: becomes.type === "file" && modes !== undefined ? { ...becomes, mode: modes } : becomes };
  }
  if (before.type === "file" && now.type === "file" && theirs.type === "file" && modes !== "conflict") {
    const original = await states.originalOf(before);
    const [old, ours, other] = [original, await readFile(now.location), await buffer(await readOriginal(theirs.location))].map(
      (bytes) => bytes && textOf(bytes),
    );
    if (old !== undefined && ours !== undefined && other !== undefined) {
      const text = ours === old ? other : mergeLines(await loadMerger(), old, ours, other);
      if (text === undefined) return { conflict: "both sides changed the same lines" };
      return { becomes: { type: "file", mode: modes ?? now.mode, content: { text } }, isMerged: ours !== old };
    }
  }
  return { conflict: `${said(before, theirs)} in the base, and ${said(before, now)} here` };
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
