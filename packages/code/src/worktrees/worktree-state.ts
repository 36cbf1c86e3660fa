import { type Git, refusedByGit } from "./run-git.ts";

/** Work in a worktree that the first worktree of its repository does not have. */
export interface WorktreeState {
  /** Absent: a commit is checked out and no branch. */
  readonly branch?: string;
  /** Files that are not committed, new ones included. */
  readonly changed: number;
  /** Commits that what is checked out in the first worktree does not have. Absent: that cannot be compared. */
  readonly commits?: number;
}

/** Returns the number of files that differ from the commit that is checked out, new ones included. */
export async function countChanged(git: Git, root: string, options: { readonly ignored?: true } = {}): Promise<number> {
  const { code, stdout, stderr } = await git.run(
    root,
    ...["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames"],
    ...(options.ignored ? ["--ignored=traditional"] : []),
  );
  if (code !== 0) throw refusedByGit(root, stderr);
  return stdout.split("\0").filter((entry) => entry !== "").length;
}

export async function worktreeState(git: Git, root: string, main: string): Promise<WorktreeState> {
  const head = await git.run(root, "symbolic-ref", "--quiet", "--short", "HEAD");
  const ofMain = await git.run(main, "rev-parse", "--verify", "--quiet", "HEAD^{commit}");
  const counted = ofMain.code === 0 ? await git.run(root, "rev-list", "--count", "HEAD", "--not", ofMain.stdout.trim()) : ofMain;
  return {
    ...(head.code === 0 && { branch: head.stdout.trim() }),
    changed: await countChanged(git, root),
    ...(counted.code === 0 && { commits: Number(counted.stdout.trim()) }),
  };
}
