import { type Change, statesOf, type UnclearReason } from "./file-state.ts";
import type { HistoryNote } from "./history-note.ts";
import type { OpenStep } from "./open-steps.ts";
import type { ProjectStore } from "./project-store.ts";
import { takeSnapshot } from "./take-snapshot.ts";

/** A command in the background that has run for longer may not be the one that made a change: a person works beside it. */
const LONGEST_SURE_MS = 300_000;

/**
 * Takes a snapshot, and gives the changes to the step that is open, because a command in the background goes on beside others.
 * @param to `open`: the step that began last, if one is open; `caller`: the caller records them
 */
export async function snapshotChanges(
  store: ProjectStore,
  to: "open" | "caller",
): Promise<{ readonly changes: readonly Change[]; readonly notes: readonly HistoryNote[] }> {
  const open = store.open.list().filter(({ kind }) => kind === "command" || kind === "job");
  const before = store.index();
  const { index, changes, notes, isChanged } = await takeSnapshot(store.parts, before, { isSticky: open.length > 0 });
  const owner = to === "open" ? open.at(-1) : undefined;
  if (owner !== undefined && changes.length > 0) {
    const marked = markJob(owner, changes, store.parts.now());
    store.sync(statesOf(marked));
    store.journal(owner.session).append([{ type: "part", step: owner.id, changes: marked }]);
  }
  store.keepIndex(index, isChanged);
  return { changes, notes };
}

/** Marks changes of a command in the background as unclear if it has run for long. */
export function markJob({ kind, at }: OpenStep, changes: readonly Change[], now: number): readonly Change[] {
  if (kind !== "job" || now - at <= LONGEST_SURE_MS) return changes;
  const unclear: UnclearReason = "long-job";
  return changes.map((change) => ({ ...change, unclear }));
}
