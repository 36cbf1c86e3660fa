import { type Change, sameState, statesOf } from "./file-state.ts";
import { foldJournal } from "./fold-journal.ts";
import { BEAT_GRACE_MS, type OpenStep } from "./open-steps.ts";
import type { ProjectStore } from "./project-store.ts";
import { removeEditDrafts } from "./remove-edit-drafts.ts";
import { finishUndo } from "./run-undo.ts";
import { readState } from "./take-snapshot.ts";
import { updateIndex } from "./update-index.ts";
import { snapshotChanges } from "./snapshot-changes.ts";

/**
 * Closes what killed processes left open: finishes their undos, and gives their steps the changes that were made. A change that was made after the last
 * sign of life of the process is unclear. The caller holds the lock.
 */
export async function recoverSteps(store: ProjectStore): Promise<void> {
  const dead = store.open.list().filter((step) => store.open.isDead(step));
  if (dead.length === 0) return;
  for (const step of dead.filter(({ kind }) => kind === "undo")) {
    const { pending } = foldJournal(store.journal(step.session).read());
    if (pending?.id === step.id) await finishUndo(store, step.session, pending);
    store.open.close(step.id);
    await snapshotChanges(store);
  }
  for (const step of dead.filter(({ kind }) => kind === "edit")) {
    removeEditDrafts(store, step);
    closeEdit(store, step);
  }
  const commands = dead.filter(({ kind }) => kind === "command" || kind === "job");
  if (commands.length === 0) return;
  const beat = Math.max(...commands.map(({ id }) => store.open.lastBeat(id)));
  await snapshotChanges(store, (changes, { entries }) => {
    const marked = changes.map((change): Change => {
      // Content is what could be lost: folders are removed only if they are empty.
      const changedAt = change.after?.type === "folder" ? undefined : entries.get(change.path)?.stamp?.ctimeMs;
      return changedAt === undefined || changedAt <= beat + BEAT_GRACE_MS ? change : { ...change, unclear: "after-kill" };
    });
    store.sync(statesOf(marked));
    // A process that was killed after it had recorded the end of a step may have left it here.
    const unended = commands.filter(({ id, session }) => isOpenIn(store, session, id));
    for (const step of unended)
      store
        .journal(step.session)
        .append([{ type: "end", step: step.id, at: store.parts.now(), changes: step === unended.at(-1) ? marked : [], isRecovered: true }]);
  });
  for (const { id } of commands) store.open.close(id);
}

function isOpenIn(store: ProjectStore, session: string, id: string): boolean {
  return foldJournal(store.journal(session).read()).steps.some((step) => step.id === id && step.isOpen);
}

/** Closes an edit of which it is known which files it was to change. */
export function closeEdit(store: ProjectStore, open: OpenStep): void {
  const journal = store.journal(open.session);
  const step = foldJournal(journal.read()).steps.find(({ id }) => id === open.id);
  const changes: Change[] = [];
  if (step?.isOpen === true) {
    for (const { path, before, digest } of step.edits) {
      const after = readState(store.parts, path);
      if (sameState(before, after)) continue;
      const isOwn = digest === undefined || (digest === null ? after === undefined : after?.type === "file" && after.digest === digest);
      const isFolder = after?.type === "folder" || before?.type === "folder";
      changes.push({ path, before, after, ...(!isOwn && !isFolder && { unclear: "after-kill" }) });
    }
    store.sync(statesOf(changes));
    journal.append([{ type: "end", step: open.id, at: store.parts.now(), changes, isRecovered: true }]);
    updateIndex(
      store,
      changes.map(({ path }) => path),
    );
  }
  store.open.close(open.id);
}
