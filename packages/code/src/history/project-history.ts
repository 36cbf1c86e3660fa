import { randomBytes } from "node:crypto";
import type { DestroyedPattern } from "./destroyed-pattern.ts";
import { shownIn } from "./compare-trees.ts";
import { type Change, type FileState, sameState, statesOf } from "./file-state.ts";
import { findUncovered, isInCovered, isKnown, type Uncovered } from "./find-uncovered.ts";
import { foldJournal, type HistoryState, type Step } from "./fold-journal.ts";
import { sameGitIndex } from "./git-index.ts";
import { HistoryError } from "./history-error.ts";
import { type HistoryNote, unkeptReason } from "./history-note.ts";
import type { Journal } from "./journal.ts";
import type { JournalRecord, PlannedEdit, StepKind } from "./journal-record.ts";
import { chosenSteps, type CompareStates, joinedChanges, planRedo, planUndo, type UndoChoice, undoableSteps } from "./plan-undo.ts";
import type { ProjectStore } from "./project-store.ts";
import { closeEdit, recoverSteps } from "./recover-steps.ts";
import { runUndo, type UndoOutcome } from "./run-undo.ts";
import { markJob, recordForOpen, snapshotChanges } from "./snapshot-changes.ts";
import { folderOf, nameOf } from "./system-path.ts";
import { readState } from "./take-snapshot.ts";
import { EMPTY_INDEX } from "./tree-index.ts";
import { trimHistory } from "./trim-history.ts";
import { updateIndex } from "./update-index.ts";

/** The call that a step belongs to. */
export interface StepCall {
  readonly callId: string;
  readonly runId: string;
  /** The session of a child agent counts as that of the agent that started it. */
  readonly session: string;
  /** A command line or the name of a tool, for people. */
  readonly title: string;
}

/** A file that a tool is about to change, and what will be there if that is known: bytes, or `null` for nothing. */
export interface PlannedFile {
  readonly path: string;
  readonly digest?: string | null;
}

/** A step that was begun. */
export interface BegunStep {
  readonly id: string;
  readonly session: string;
  readonly kind: StepKind;
  readonly at: number;
}

/** The result of an undo or a redo. */
export interface UndoResult extends UndoOutcome {
  readonly steps: readonly Step[];
}

/** The history of the files of one project: all its sessions share it, and so do all processes. */
export class ProjectHistory {
  readonly store: ProjectStore;
  readonly #marked = new Set<string>();
  /** Edits whose end is not reported: the next use of the history closes them. */
  #kept: BegunStep[] = [];
  #isTrimmed = false;

  constructor(store: ProjectStore) {
    this.store = store;
  }

  /** Begins a new group of steps: the person has sent a message. */
  mark(session: string): void {
    this.#marked.add(rootSession(session));
  }

  /** Takes a snapshot before a command. */
  async begin(kind: "command" | "job", call: StepCall): Promise<{ readonly step: BegunStep; readonly notes: readonly HistoryNote[] }> {
    return this.#locked(async () => {
      const notes: HistoryNote[] = [];
      if (!this.#isTrimmed) {
        this.#isTrimmed = true;
        notes.push(...trimHistory(this.store));
      }
      notes.push(...(await snapshotChanges(this.store, recordForOpen(this.store))).notes);
      return { step: this.#open(kind, call), notes };
    });
  }

  /** Takes a snapshot after a command. @returns the changes, and what of them cannot be undone */
  async end(step: BegunStep): Promise<{ readonly changes: readonly Change[]; readonly notes: readonly HistoryNote[] }> {
    return this.#locked(async () => {
      let changes: readonly Change[] = [];
      const { notes } = await snapshotChanges(this.store, (found) => {
        changes = markJob({ ...step, owner: "", number: 0 }, found, this.store.parts.now());
        this.#close(step, changes);
      });
      return { changes, notes };
    });
  }

  /** Finds out what of the files that a command may destroy is not covered. A snapshot is taken unless the last one answers. */
  async uncovered(destroyed: readonly DestroyedPattern[]): Promise<readonly Uncovered[]> {
    const { parts } = this.store;
    const index = this.store.index();
    const open = destroyed.filter((pattern) => index === undefined || !isKnown(index, pattern));
    if (open.every(({ path }) => !isInCovered(path, parts, index?.externals ?? []))) return this.uncoveredNow(open);
    return this.#locked(async () => {
      await snapshotChanges(this.store, recordForOpen(this.store));
      return this.uncoveredNow(open);
    });
  }

  /** Returns the same by the last snapshot. */
  uncoveredNow(destroyed: readonly DestroyedPattern[]): readonly Uncovered[] {
    return findUncovered(this.store.index() ?? EMPTY_INDEX, destroyed, this.store.parts);
  }

  /** Keeps the states of files from before a change. The step ends with `endEdit`, or with the next use of the history. */
  async keep(files: readonly PlannedFile[], call: StepCall): Promise<BegunStep> {
    return this.#locked(async () => {
      const edits = this.#plannedEdits(files);
      this.store.sync(edits.map(({ before }) => before));
      const step = this.#open("edit", call, edits);
      this.#kept.push(step);
      return step;
    });
  }

  /**
   * Makes a change of files, and keeps their states from before and after. Nothing else uses the history meanwhile.
   * @param onProblem receives the reason why something cannot be kept; the change is made nevertheless
   */
  async edit<T>(files: readonly PlannedFile[], call: StepCall, change: () => Promise<T>, onProblem: (error: unknown) => void): Promise<T> {
    return this.#locked(async () => {
      let begun: { readonly step: BegunStep; readonly edits: readonly PlannedEdit[] } | undefined;
      try {
        const edits = this.#plannedEdits(files);
        this.store.sync(edits.map(({ before }) => before));
        begun = { step: this.#open("edit", call, edits), edits };
        const lost = edits.find(({ before }) => before?.type === "unkept");
        if (lost?.before?.type === "unkept")
          onProblem(`${shownIn(this.store.root, lost.path)}: ${unkeptReason(lost.before.reason, this.store.limits)}`);
      } catch (error) {
        onProblem(error);
      }
      try {
        return await change();
      } finally {
        try {
          if (begun !== undefined) this.#closeEdit(begun.step, begun.edits);
        } catch (error) {
          onProblem(error);
        }
      }
    });
  }

  /** Undoes steps of a session. Paths that others have changed since are left. */
  async undo(session: string, choice: UndoChoice, { takesUnclear = false }: { readonly takesUnclear?: boolean } = {}): Promise<UndoResult> {
    return this.#locked(async () => {
      this.#requireIdle(session);
      await snapshotChanges(this.store, recordForOpen(this.store));
      const steps = chosenSteps(this.#state(session).steps, choice, this.#isSame);
      if (steps.length === 0) return { steps, done: [], left: [] };
      const ids = steps.map(({ id }) => id);
      const outcome = await runUndo(this.store, {
        session: rootSession(session),
        steps: ids,
        moves: planUndo(steps, this.#isSame),
        takesUnclear,
      });
      await snapshotChanges(this.store);
      return { steps, ...outcome };
    });
  }

  /** Reverts the last undo. */
  async redo(session: string): Promise<UndoResult> {
    return this.#locked(async () => {
      this.#requireIdle(session);
      await snapshotChanges(this.store, recordForOpen(this.store));
      const { undos, steps } = this.#state(session);
      const last = undos.at(-1);
      if (last === undefined) return { steps: [], done: [], left: [] };
      const moves = planRedo(last.done);
      const own = rootSession(session);
      const outcome = await runUndo(this.store, { session: own, steps: last.steps, moves, redoes: last.id, takesUnclear: true });
      await snapshotChanges(this.store);
      return { steps: steps.filter(({ id }) => last.steps.includes(id)), ...outcome };
    });
  }

  /** Returns the changes of steps that are not undone, joined, oldest first; all of them without a choice. */
  async changes(session: string, choice?: UndoChoice): Promise<{ readonly steps: readonly Step[]; readonly changes: readonly Change[] }> {
    return this.#locked(async () => {
      await snapshotChanges(this.store, recordForOpen(this.store));
      const { steps } = this.#state(session);
      const chosen = choice === undefined ? undoableSteps(steps) : chosenSteps(steps, choice, this.#isSame);
      return { steps: chosen, changes: joinedChanges(chosen, this.#isSame) };
    });
  }

  /** Closes what killed processes left open. */
  async recover(): Promise<void> {
    if (this.store.open.list().length > 0) await this.#locked(async () => {});
  }

  /** Returns the state of the history of a session. */
  state(session: string): Promise<HistoryState> {
    return this.#locked(async () => this.#state(session));
  }

  async #locked<T>(act: () => Promise<T>): Promise<T> {
    return this.store.locked(async () => {
      await recoverSteps(this.store);
      for (const step of this.#kept.splice(0)) closeEdit(this.store, { ...step, owner: "", number: 0 });
      return act();
    });
  }

  #state(session: string): HistoryState {
    return foldJournal(this.store.journal(rootSession(session)).read());
  }

  /** Two indexes of git that stage the same are the same: editors and prompts write the index again at any time. */
  readonly #isSame: CompareStates = (path, a, b) => {
    if (sameState(a, b)) return true;
    if (nameOf(path) !== "index" || a?.type !== "file" || b?.type !== "file" || a.mode !== b.mode) return false;
    const [left, right] = [this.store.bytesOf(a), this.store.bytesOf(b)];
    return left !== undefined && right !== undefined && left.toString("latin1", 0, 4) === "DIRC" && sameGitIndex(left, right);
  };

  #open(kind: StepKind, { callId, runId, session, title }: StepCall, edits?: readonly PlannedEdit[]): BegunStep {
    const own = rootSession(session);
    const journal = this.store.journal(own);
    const step: BegunStep = { id: randomBytes(8).toString("hex"), session: own, kind, at: this.store.parts.now() };
    const { id, at } = step;
    const isFirst = this.#marked.delete(own);
    journal.append([
      ...firstRecords(journal, own, this.store.root),
      {
        ...{ type: "begin", step: id, kind, call: callId, run: runId, session, at, title },
        ...(isFirst && { isFirst }),
        ...(edits !== undefined && { edits }),
      },
    ]);
    this.store.open.open({ id, session: own, kind, at });
    return step;
  }

  #close({ id, session }: BegunStep, changes: readonly Change[]): void {
    // Another process may have taken this one for dead, and closed the step.
    if (this.#state(session).steps.some((step) => step.id === id && step.isOpen)) {
      this.store.sync(statesOf(changes));
      this.store.journal(session).append([{ type: "end", step: id, at: this.store.parts.now(), changes }]);
    }
    this.store.open.close(id);
  }

  #closeEdit(step: BegunStep, edits: readonly PlannedEdit[]): void {
    const changes = edits.flatMap(({ path, before }): Change[] => {
      const after = readState(this.store.parts, path);
      return sameState(before, after) ? [] : [{ path, before, after }];
    });
    this.#close(step, changes);
    updateIndex(
      this.store,
      changes.map(({ path }) => path),
    );
  }

  #plannedEdits(files: readonly PlannedFile[]): PlannedEdit[] {
    const edits = new Map<string, PlannedEdit>();
    const stateOf = (path: string): FileState | undefined => readState(this.store.parts, path);
    for (const { path, digest } of files) {
      // Folders that the tool makes on the way are undone as well.
      for (let folder = folderOf(path); folder !== "" && stateOf(folder) === undefined; folder = folderOf(folder))
        edits.set(folder, { path: folder, before: undefined });
      edits.set(path, { path, before: stateOf(path), ...(digest !== undefined && { digest }) });
    }
    return [...edits.values()];
  }

  #requireIdle(session: string): void {
    const own = rootSession(session);
    const open = this.store.open.list().find((step) => step.session === own && (step.kind === "command" || step.kind === "edit"));
    if (open !== undefined) throw new HistoryError("A command of this session is still running. Stop it first, then try again.");
  }
}

/** Returns the session whose journal holds the steps of a session: children have ids with a `~`. */
export function rootSession(session: string): string {
  const at = session.indexOf("~");
  return at > 0 ? session.slice(0, at) : session;
}

function firstRecords(journal: Journal, session: string, root: string): readonly JournalRecord[] {
  return journal.read().length > 0 ? [] : [{ type: "session", version: 1, session, root }];
}
