import { type Change, type FileState, sameState, type UnclearReason } from "./file-state.ts";
import type { Step } from "./fold-journal.ts";
import type { Move } from "./journal-record.ts";
import { isWithin, nameOf } from "./system-path.ts";

/** A move back over all selected steps that changed a path. */
export interface PlannedMove extends Move {
  /** It is not known that the steps made the change. */
  readonly unclear?: UnclearReason;
  /** True if the path was changed by others between two of the steps. Then older steps are not undone for it. */
  readonly isCut: boolean;
}

/** Returns the steps of a session that can be undone, oldest first. */
export function undoableSteps(steps: readonly Step[]): readonly Step[] {
  return steps.filter(({ sets, isUndone, isDropped }) => sets.length > 0 && !isUndone && !isDropped);
}

/** Plans the undo of steps: for each path the state that it must have now, and the state that it had before. */
export function planUndo(steps: readonly Step[]): readonly PlannedMove[] {
  const moves = new Map<string, { from: FileState | undefined; to: FileState | undefined; unclear?: UnclearReason; isCut: boolean }>();
  const sets = steps.flatMap((step) => step.sets).toSorted((a, b) => b.order - a.order);
  for (const { path, before, after, unclear } of sets.flatMap(({ changes }) => changes)) {
    const move = moves.get(path);
    if (move === undefined) moves.set(path, { from: after, to: before, isCut: false, ...(unclear && { unclear }) });
    else if (move.isCut) continue;
    else if (sameState(move.to, after)) {
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
export function joinedChanges(steps: readonly Step[]): readonly Change[] {
  return planUndo(steps)
    .map(({ path, from, to }) => ({ path, before: to, after: from }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
}
