import { isKept } from "./file-state.ts";
import type { FileStamp } from "./file-stamp.ts";
import type { LeftMove, LeftReason, Move } from "./journal-record.ts";
import { type MatchOptions, matchState } from "./match-state.ts";
import type { PlannedMove } from "./plan-undo.ts";
import { isWithin, nameOf } from "./system-path.ts";

/** A move that can be made: the path is in the state that it moves from. */
export interface ReadyMove extends Move {
  /** Its stamp when it was compared. */
  readonly stamp: FileStamp | undefined;
}

export interface CheckedMoves {
  readonly ready: readonly ReadyMove[];
  readonly left: readonly LeftMove[];
  /** Paths that are in the state already that they would move to. */
  readonly done: readonly Move[];
}

export interface CheckOptions extends MatchOptions {
  /** Moves whose steps are unclear are made as well. */
  readonly takesUnclear: boolean;
  /** Folders of repositories outside of the tree. */
  readonly externals: readonly string[];
  /** True if the content of a state is kept and sound enough to be there. */
  has(move: Move): boolean;
}

/** Files of a repository that other programs write at any time, and that say nothing about its state. */
const PASSING_FILES: ReadonlySet<string> = new Set(["FETCH_HEAD", "COMMIT_EDITMSG", "gc.log", "commit-graph"]);

/**
 * Compares the paths of moves with the disk. A path that is in another state than the steps left it in was changed by others, and is left. The files of
 * one repository move together or not at all, because its index, branches and logs belong together.
 */
export function checkMoves(moves: readonly PlannedMove[], options: CheckOptions): CheckedMoves {
  const ready: ReadyMove[] = [];
  const left: LeftMove[] = [];
  const done: Move[] = [];
  for (const { path, from, to, unclear, isCut } of moves) {
    const move: Move = { path, from, to };
    if (isCut) left.push({ ...move, reason: "changed" });
    if (unclear !== undefined && !options.takesUnclear) {
      left.push({ ...move, reason: "unclear" });
      continue;
    }
    const { isMatch, stamp } = matchState(path, from, options);
    if (isMatch) {
      if (isKept(to) && options.has(move)) ready.push({ ...move, stamp });
      else left.push({ ...move, reason: "not-kept" });
    } else if (matchState(path, to, options).isMatch) done.push(move);
    else left.push({ ...move, reason: "changed" });
  }
  return withWholeRepositories({ ready, left, done }, options.externals);
}

function withWholeRepositories({ ready, left, done }: CheckedMoves, externals: readonly string[]): CheckedMoves {
  const broken = new Set<string>();
  for (const { path } of left) {
    const repository = repositoryOf(path, externals);
    if (repository !== undefined && !PASSING_FILES.has(nameOf(path))) broken.add(repository);
  }
  if (broken.size === 0) return { ready, left, done };
  const isBroken = ({ path, to }: Move): boolean => {
    const repository = repositoryOf(path, externals);
    // Objects that come back change nothing of its state.
    return repository !== undefined && broken.has(repository) && to?.type !== "object";
  };
  const reason: LeftReason = "repository";
  return {
    ready: ready.filter((move) => !isBroken(move)),
    left: [...left, ...ready.filter(isBroken).map(({ path, from, to }) => ({ path, from, to, reason }))],
    done,
  };
}

/** Returns the folder of the repository that holds a path; `undefined` if there is none. */
export function repositoryOf(path: string, externals: readonly string[]): string | undefined {
  const at = `${path}/`.indexOf("/.git/");
  return at >= 0 ? path.slice(0, at + 5) : externals.find((folder) => isWithin(path, folder));
}
