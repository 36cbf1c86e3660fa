import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type FileState, statesOf } from "./file-state.ts";
import { foldJournal, type Step } from "./fold-journal.ts";
import { HISTORY_BYTES } from "./history-limits.ts";
import { type HistoryNote, shownBytes } from "./history-note.ts";
import { Journal } from "./journal.ts";
import type { ProjectStore } from "./project-store.ts";

interface KeptStep {
  readonly step: Step;
  readonly journal: Journal;
}

/** Drops the oldest steps of a project while its history takes more space than it may. The caller holds the lock. */
export function trimHistory(store: ProjectStore): readonly HistoryNote[] {
  const { totalBytes } = store.limits;
  const bytes = store.images.bytes() + store.secretImages.bytes() + store.objects.bytes();
  if (bytes <= totalBytes) return [];
  const steps = keptSteps(store).toSorted((a, b) => a.step.at - b.step.at);
  const uses = new Map<string, { size: number; count: number }>();
  let used = 0;
  const count = (state: FileState | undefined, by: number): void => {
    const key = keyOf(state);
    if (key === undefined || state === undefined) return;
    const use = uses.get(key) ?? { size: "size" in state ? state.size : 0, count: 0 };
    if (use.count === 0) used += use.size;
    use.count += by;
    if (use.count === 0) used -= use.size;
    uses.set(key, use);
  };
  for (const { state } of store.index()?.entries.values() ?? []) count(state, 1);
  for (const { step } of steps) for (const state of statesIn(step)) count(state, 1);
  const dropped: KeptStep[] = [];
  for (const kept of steps) {
    if (used <= totalBytes) break;
    for (const state of statesIn(kept.step)) count(state, -1);
    dropped.push(kept);
  }
  for (const { step, journal } of dropped) journal.append([{ type: "dropped", steps: [step.id] }]);
  sweepImages(store);
  if (dropped.length === 0) return [];
  return [
    {
      key: "dropped",
      text: `The file history of this project took more than ${shownBytes(totalBytes)}: the ${dropped.length} oldest of its changes can no longer be undone. ${HISTORY_BYTES} sets the limit.`,
    },
  ];
}

/** Removes the journal of a session in a project, and the images that only it needed. The caller holds the lock. */
export function forgetSession(store: ProjectStore, journalFile: string): void {
  rmSync(journalFile, { force: true });
  sweepImages(store);
}

/** Removes the images that neither the present files nor any step need. */
function sweepImages(store: ProjectStore): void {
  const used = new Set<string>();
  const use = (state: FileState | undefined): void => {
    const key = keyOf(state);
    if (key !== undefined) used.add(key);
  };
  const index = store.index();
  for (const { state } of index?.entries.values() ?? []) use(state);
  for (const { key } of index?.objects.values() ?? []) if (key !== undefined) used.add(key);
  for (const { step } of keptSteps(store)) for (const state of statesIn(step)) use(state);
  const isUsed = (key: string): boolean => used.has(key);
  for (const part of [store.images, store.secretImages, store.objects]) part.sweep(isUsed);
}

function keptSteps(store: ProjectStore): readonly KeptStep[] {
  const folder = join(store.folder, "sessions");
  return readdirSync(folder)
    .filter((name) => name.endsWith(".journal"))
    .flatMap((name) => {
      const journal = new Journal(join(folder, name));
      return foldJournal(journal.read())
        .steps.filter(({ isDropped }) => !isDropped)
        .map((step) => ({ step, journal }));
    });
}

function* statesIn({ sets, edits }: Step): Generator<FileState | undefined> {
  for (const { before } of edits) yield before;
  for (const { changes } of sets) yield* statesOf(changes);
}

function keyOf(state: FileState | undefined): string | undefined {
  return state?.type === "file" ? state.digest : state?.type === "object" ? state.key : undefined;
}
