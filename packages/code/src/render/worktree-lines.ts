import type { WorktreeState } from "../worktrees/worktree-state.ts";
import { printableLine } from "../text/printable.ts";

export interface EndedWorktree extends WorktreeState {
  readonly name: string;
  readonly root: string;
  /** The folder that the repository began with. */
  readonly main: string;
}

/** Says where the work of a session in a worktree is, and how it is taken over or removed. */
export function worktreeEndLines({ name, root, main, branch, changed, commits }: EndedWorktree): readonly string[] {
  const facts = [
    commits === undefined
      ? "commits not counted"
      : `${commits} ${commits === 1 ? "commit" : "commits"} that ${printableLine(main)} does not have`,
    changed === 0 ? "nothing uncommitted" : `${changed} ${changed === 1 ? "file" : "files"} not committed`,
  ];
  const isEmpty = changed === 0 && commits === 0;
  const taken = [
    ...(changed > 0 ? ["commit there what is not committed"] : []),
    ...(branch === undefined ? ["git switch -c <branch> there"] : []),
  ];
  const merge = `in ${quoted(main)}: git merge ${quoted(branch ?? "<branch>")}`;
  const remove = [
    `git -C ${quoted(main)} worktree remove ${quoted(root)}`,
    ...(branch === undefined ? [] : [`git -C ${quoted(main)} branch -d ${quoted(branch)}`]),
  ];
  return [
    `worktree ${printableLine(name)}: ${facts.join(", ")}`,
    `  folder     ${printableLine(root)}`,
    ...(branch === undefined ? [] : [`  branch     ${printableLine(branch)}`]),
    ...(isEmpty ? [] : [`  take over  ${[...taken, merge].join("; then ")}`]),
    `  remove     ${remove.join(" && ")}`,
  ];
}

function quoted(path: string): string {
  const shown = printableLine(path);
  return /^[\w@%+=:,./<>-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", "'\\''")}'`;
}
