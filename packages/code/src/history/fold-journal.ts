import type { Change } from "./file-state.ts";
import type { JournalRecord, Move, PlannedEdit, StepKind } from "./journal-record.ts";

/** Changes that one snapshot found. */
export interface ChangeSet {
  /** Its place among those of all steps. */
  readonly order: number;
  readonly changes: readonly Change[];
}

/** Changes that belong together: those of one call. */
export interface Step {
  readonly id: string;
  readonly kind: StepKind;
  readonly call: string;
  readonly run: string;
  readonly session: string;
  readonly at: number;
  readonly title: string;
  readonly edits: readonly PlannedEdit[];
  /** Steps of one group follow one message of the person. */
  readonly group: number;
  /** Its changes in order of time. Those of a command in the background may have others between them. */
  readonly sets: readonly ChangeSet[];
  readonly isOpen: boolean;
  readonly isUndone: boolean;
  /** Its images were dropped. */
  readonly isDropped: boolean;
}

/** An undo, or a redo, that is complete. */
export interface UndoneSteps {
  readonly id: string;
  readonly steps: readonly string[];
  readonly done: readonly Move[];
}

/** An undo or redo that began and did not end. */
export type PendingUndo = Extract<JournalRecord, { readonly type: "undo" }> & {
  /** Files that it began to write in place. */
  readonly rewritten: readonly string[];
};

/** The state that the records of a journal lead to. */
export interface HistoryState {
  readonly root: string | undefined;
  readonly steps: readonly Step[];
  /** Undos that can be redone, newest last. */
  readonly undos: readonly UndoneSteps[];
  readonly pending: PendingUndo | undefined;
}

type Draft = { -readonly [K in keyof Step]: Step[K] };

/** Reads the state of a session's history off its records. */
export function foldJournal(records: readonly JournalRecord[]): HistoryState {
  const steps: Draft[] = [];
  const byId = new Map<string, Draft>();
  let undos: UndoneSteps[] = [];
  let pending: PendingUndo | undefined;
  let root: string | undefined;
  let group = 0;
  let order = 0;
  let ownRun: string | undefined;
  let own: string | undefined;
  for (const record of records) {
    switch (record.type) {
      case "session":
        ({ root, session: own } = record);
        break;
      case "begin": {
        // Runs of children have ids of their own, and belong to the run that started them.
        const isNewRun = record.session === own && ownRun !== undefined && record.run !== ownRun;
        if (record.isFirst === true || isNewRun) group++;
        if (record.session === own) ownRun = record.run;
        else if (record.isFirst === true) ownRun = undefined;
        const { step: id, kind, call, run, session, at, title, edits = [] } = record;
        const step: Draft = {
          ...{ id, kind, call, run, session, at, title, edits, group },
          ...{ sets: [], isOpen: true, isUndone: false, isDropped: false },
        };
        steps.push(step);
        byId.set(id, step);
        break;
      }
      case "part":
      case "end": {
        const step = byId.get(record.step);
        if (step === undefined) break;
        if (record.changes.length > 0) {
          // A command in the background may change files after it was undone.
          step.sets = [...(step.isUndone ? [] : step.sets), { order: order++, changes: record.changes }];
          step.isUndone = false;
          // Files have changed since: what was undone before cannot be redone.
          undos = [];
        }
        if (record.type === "end") step.isOpen = false;
        break;
      }
      case "undo":
        pending = { ...record, rewritten: [] };
        break;
      case "rewrite":
        if (pending?.id === record.id) pending = { ...pending, rewritten: [...pending.rewritten, record.path] };
        break;
      case "undone": {
        if (pending?.id !== record.id) break;
        const { redoes, steps: ids, id } = pending;
        for (const step of ids) setUndone(byId.get(step), redoes === undefined);
        if (redoes === undefined) undos.push({ id, steps: ids, done: record.done });
        else undos = undos.filter((undo) => undo.id !== redoes);
        pending = undefined;
        break;
      }
      case "dropped":
        for (const id of record.steps) {
          const step = byId.get(id);
          if (step !== undefined) step.isDropped = true;
        }
        undos = undos.filter((undo) => !undo.steps.some((id) => record.steps.includes(id)));
        break;
    }
  }
  return { root, steps, undos, pending };
}

function setUndone(step: Draft | undefined, isUndone: boolean): void {
  if (step !== undefined) step.isUndone = isUndone;
}
