import { type Change, type FileState, sameState, type UnclearReason } from "./file-state.ts";
import type { ChangeSet, Step } from "./fold-journal.ts";
import type { Move } from "./journal-record.ts";
import { isWithin, nameOf } from "./system-path.ts";

/** A move back over all selected steps that changed a path. */
export interface PlannedMove extends Move {
  /** It is not known that the steps made the change. */
  readonly unclear?: UnclearReason;
  /** True if the path was changed by others between two of the steps. Then older steps are not undone for it. */
  readonly isCut: boolean;
}

/** Compares two states of a path. */
export type CompareStates = (path: string, a: FileState | undefined, b: FileState | undefined) => boolean;

const byState: CompareStates = (_path, a, b) => sameState(a, b);

/** The steps to undo: those since the last messages of the person (from 1), the last calls (from 1), or all since a time. */
export type UndoChoice = { readonly messages: number } | { readonly calls: number } | { readonly since: number };

/** Returns the steps of a session that can be undone, oldest first. */
export function undoableSteps(steps: readonly Step[]): readonly Step[] {
  return steps.filter(({ sets, isUndone, isDropped }) => sets.length > 0 && !isUndone && !isDropped);
}

/**
 * Returns the steps that a choice means, with all later ones. A step without a difference, such as `git status`, which writes the index again, is not
 * counted.
 */
export function chosenSteps(all: readonly Step[], choice: UndoChoice, isSame: CompareStates = byState): readonly Step[] {
  const steps = undoableSteps(all);
  if ("since" in choice) return steps.filter(({ at }) => at > choice.since);
  const hasDifference = ({ changes }: ChangeSet): boolean => changes.some(({ path, before, after }) => !isSame(path, before, after));
  const counted = steps.filter(({ sets }) => sets.some(hasDifference));
  const groups = [...new Set(counted.map(({ group }) => group))];
  const first = "calls" in choice ? counted.at(-choice.calls) : counted.find(({ group }) => groups.slice(-choice.messages).includes(group));
  if (first === undefined) return counted.length === 0 ? [] : steps.slice(steps.indexOf(counted[0] as Step));
  return steps.slice(steps.indexOf(first));
}

/**
 * Plans the undo of steps: for each path the state that it must have now, and the state that it had before.
 * @param isSame true if two states of a path mean the same: then no one has changed it between two steps
 */
export function planUndo(steps: readonly Step[], isSame: CompareStates = byState): readonly PlannedMove[] {
  const moves = new Map<string, { from: FileState | undefined; to: FileState | undefined; unclear?: UnclearReason; isCut: boolean }>();
  const sets = steps.flatMap((step) => step.sets).toSorted((a, b) => b.order - a.order);
  for (const { path, before, after, unclear } of sets.flatMap(({ changes }) => changes)) {
    const move = moves.get(path);
    if (move === undefined) moves.set(path, { from: after, to: before, isCut: false, ...(unclear && { unclear }) });
    else if (move.isCut) continue;
    // The goal is the state before the older step, whoever changed the path in between. A killed process may leave a change recorded twice.
    else if (isSame(path, move.to, after) || isSame(path, move.to, before)) {
      move.to = before;
      if (unclear !== undefined) move.unclear ??= unclear;
    } else move.isCut = true;
  }
  return Array.from(moves, ([path, move]) => ({ path, ...move })).filter(({ from, to, isCut }) => isCut || !sameState(from, to));
}

/** Plans the redo of moves. Objects of git stay, because others may need them by now, unless the whole repository goes. */
export function planRedo(done: readonly Move[]): readonly PlannedMove[] {
  const moves = done.map(({ path, from, to }) => ({ path, from: to, to: from, isCut: false }));
  const tops = moves.filter(({ path, from, to }) => from?.type === "folder" && to === undefined && nameOf(path) === "objects");
  return moves.filter(({ path, from, to }) => {
    if (to !== undefined || (from?.type !== "object" && !isInObjects(path))) return true;
    return tops.some((top) => isWithin(path, top.path));
  });
}

/** True for folders in which a repository keeps objects. */
function isInObjects(path: string): boolean {
  return /\/objects\/(?:[\da-f]{2}|pack|info)$/.test(path);
}

/** Returns the changes of steps as a whole: from the state before the first to the state after the last. */
export function joinedChanges(steps: readonly Step[], isSame: CompareStates = byState): readonly Change[] {
  return planUndo(steps, isSame)
    .map(({ path, from, to }) => ({ path, before: to, after: from }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
}
