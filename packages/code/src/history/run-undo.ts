import { randomBytes } from "node:crypto";
import { chmodSync } from "node:fs";
import { applyMoves, removeDrafts } from "./apply-moves.ts";
import { checkMoves, type ReadyMove } from "./check-moves.ts";
import type { FileState } from "./file-state.ts";
import type { PendingUndo } from "./fold-journal.ts";
import type { LeftMove, Move } from "./journal-record.ts";
import { type MatchOptions, matchState, statBelow } from "./match-state.ts";
import type { PlannedMove } from "./plan-undo.ts";
import type { ProjectStore } from "./project-store.ts";
import { folderOf, systemPath } from "./system-path.ts";

export interface UndoOptions {
  readonly session: string;
  readonly steps: readonly string[];
  readonly moves: readonly PlannedMove[];
  /** The undo that is reverted: then it is a redo. */
  readonly redoes?: string | undefined;
  readonly takesUnclear: boolean;
}

/** The moves that an undo made, and those that it left. */
export interface UndoOutcome {
  readonly done: readonly Move[];
  readonly left: readonly LeftMove[];
}

/**
 * Makes the moves of an undo. The plan is in the journal before the first move, so that a process that is killed in the middle leaves an undo that the next
 * one finishes. If no move can be made, nothing is recorded. The caller holds the lock.
 */
export async function runUndo(store: ProjectStore, { session, steps, moves, redoes, takesUnclear }: UndoOptions): Promise<UndoOutcome> {
  const match = matchOptions(store);
  const externals = store.index()?.externals ?? [];
  const checked = checkMoves(moves, { ...match, takesUnclear, externals, has: (move) => hasContent(store, move.to) });
  if (checked.ready.length === 0 && checked.done.length === 0) return { done: [], left: checked.left };
  const id = randomBytes(8).toString("hex");
  const at = store.parts.now();
  const plan = checked.ready.map(({ path, from, to }): Move => ({ path, from, to }));
  const opened = closedFolders(plan, match.tops);
  const { done, left } = checked;
  store.open.open({ id, session, kind: "undo", at });
  store
    .journal(session)
    .append([{ type: "undo", id, at, steps, moves: [...plan, ...done], left, opened, ...(redoes !== undefined && { redoes }) }]);
  const applied = await apply(store, session, { id, opened, ready: checked.ready });
  const outcome = { done: [...applied.done, ...done], left: [...left, ...applied.left] };
  store.journal(session).append([{ type: "undone", id, ...outcome }]);
  store.open.close(id);
  return outcome;
}

/** Finishes an undo whose process was killed: moves that were not made are made if their path is still as it was. */
export async function finishUndo(store: ProjectStore, session: string, pending: PendingUndo): Promise<void> {
  const match = matchOptions(store);
  removeDrafts(pending.moves, pending.id, match.tops);
  const ready: ReadyMove[] = [];
  const done: Move[] = [];
  const left: LeftMove[] = [...pending.left];
  for (const { path, mode } of pending.opened) chmodIfThere(path, mode | 0o700, match.tops);
  const openedPaths = new Set(pending.opened.map(({ path }) => path));
  const isOpened = ({ path, from }: Move): boolean =>
    from?.type === "folder" && openedPaths.has(path) && statBelow(path, match.tops)?.isDirectory() === true;
  for (const move of pending.moves) {
    const { isMatch, stamp } = matchState(move.path, move.from, match);
    // `from` is compared before `to`: an index of git can match both, because its times do not count, and must get the bytes of `to`.
    if (isMatch) ready.push({ ...move, stamp });
    else if (matchState(move.path, move.to, match).isMatch) done.push(move);
    else if (isOpened(move) || pending.rewritten.includes(move.path)) ready.push({ ...move, stamp });
    else if (isHalfMade(move, stamp !== undefined, match)) ready.push({ ...move, from: undefined, stamp });
    else left.push({ ...move, reason: "changed" });
  }
  const applied = await apply(store, session, { id: pending.id, opened: pending.opened, ready });
  const outcome = { done: [...applied.done, ...done], left: [...left, ...applied.left] };
  store.journal(session).append([{ type: "undone", id: pending.id, ...outcome }]);
}

/** True if the move had removed what was there and had not put anything in its place, or had made a folder without its permissions. */
function isHalfMade({ path, from, to }: Move, isThere: boolean, { tops }: MatchOptions): boolean {
  if (!isThere) return from !== undefined && to !== undefined;
  return to?.type === "folder" && statBelow(path, tops)?.isDirectory() === true;
}

async function apply(
  store: ProjectStore,
  session: string,
  { id, opened, ready }: { readonly id: string; readonly opened: PendingUndo["opened"]; readonly ready: readonly ReadyMove[] },
): Promise<UndoOutcome> {
  const match = matchOptions(store);
  for (const { path, mode } of opened) chmodIfThere(path, mode | 0o700, match.tops);
  try {
    return await applyMoves(ready, {
      ...match,
      id,
      names: namesByInode(store),
      copyTo: (state, path) => state.type === "file" && store.storeOf(state).copyTo(state.digest, path, 0o600),
      restoreObject: (key, path) => store.objects.restore(key, path),
      onRewrite: (path) => store.journal(session).append([{ type: "rewrite", id, path }]),
    });
  } finally {
    const own = new Set(ready.filter(({ to }) => to?.type === "folder").map(({ path }) => path));
    for (const { path, mode } of opened) if (!own.has(path)) chmodIfThere(path, mode, match.tops);
  }
}

/** Finds the files of the present tree that have several names. */
function namesByInode(store: ProjectStore): Map<number, string> {
  const names = new Map<number, string>();
  for (const [path, { state }] of store.index()?.entries ?? [])
    if (state.type === "file" && state.inode !== undefined) names.set(state.inode, path);
  return names;
}

function matchOptions(store: ProjectStore): MatchOptions {
  return { tops: [...store.tops, ...(store.index()?.externals ?? [])], bytesOf: (state) => store.bytesOf(state) };
}

function hasContent(store: ProjectStore, state: FileState | undefined): boolean {
  return state?.type !== "file" || store.storeOf(state).has(state.digest);
}

/** Finds folders of moves in which their owner may not write, so that they are opened for the time of the undo. */
function closedFolders(moves: readonly Move[], tops: readonly string[]): { readonly path: string; readonly mode: number }[] {
  if (process.geteuid?.() === 0) return [];
  const found = new Map<string, number>();
  const seen = new Set<string>();
  for (const { path } of moves) {
    for (const folder of [folderOf(path), path]) {
      if (seen.has(folder)) continue;
      seen.add(folder);
      const stats = statBelow(folder, tops);
      if (stats?.isDirectory() === true && (stats.mode & 0o700) !== 0o700) found.set(folder, stats.mode & 0o7777);
    }
  }
  return Array.from(found, ([path, mode]) => ({ path, mode }));
}

function chmodIfThere(path: string, mode: number, tops: readonly string[]): void {
  if (statBelow(path, tops)?.isDirectory() !== true) return;
  try {
    chmodSync(systemPath(path), mode);
  } catch {
    // The moves in it are left then, with that reason.
  }
}
