import { type Change, statesOf, type UnclearReason } from "./file-state.ts";
import type { HistoryNote } from "./history-note.ts";
import type { OpenStep } from "./open-steps.ts";
import type { ProjectStore } from "./project-store.ts";
import { takeSnapshot } from "./take-snapshot.ts";
import type { TreeIndex } from "./tree-index.ts";

/** A command in the background that has run for longer may not be the one that made a change: a person works beside it. */
const LONGEST_SURE_MS = 300_000;

/** Writes the changes that a snapshot found to a journal. */
export type RecordChanges = (changes: readonly Change[], index: TreeIndex) => void;

/**
 * Takes a snapshot, and has its changes recorded before the index holds them. A process that is killed in between leaves them to the next snapshot, which
 * finds them a second time; in the other order they would be lost.
 * @param record Default: they belong to nobody.
 */
export async function snapshotChanges(
  store: ProjectStore,
  record: RecordChanges = () => {},
): Promise<{ readonly changes: readonly Change[]; readonly notes: readonly HistoryNote[] }> {
  const isSticky = openCommands(store).length > 0;
  const { index, changes, notes, isChanged } = await takeSnapshot(store.parts, store.index(), { isSticky });
  record(changes, index);
  store.keepIndex(index, isChanged);
  return { changes, notes };
}

/** Gives changes to the command that began last, if one is open, because a command in the background goes on beside others. */
export function recordForOpen(store: ProjectStore): RecordChanges {
  return (changes) => {
    const owner = openCommands(store).at(-1);
    if (owner === undefined || changes.length === 0) return;
    const marked = markJob(owner, changes, store.parts.now());
    store.sync(statesOf(marked));
    store.journal(owner.session).append([{ type: "part", step: owner.id, changes: marked }]);
  };
}

function openCommands(store: ProjectStore): readonly OpenStep[] {
  return store.open.list().filter(({ kind }) => kind === "command" || kind === "job");
}

/** Marks changes of a command in the background as unclear if it has run for long. */
export function markJob({ kind, at }: OpenStep, changes: readonly Change[], now: number): readonly Change[] {
  if (kind !== "job" || now - at <= LONGEST_SURE_MS) return changes;
  const unclear: UnclearReason = "long-job";
  return changes.map((change) => ({ ...change, unclear }));
}
