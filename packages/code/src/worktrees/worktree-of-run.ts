import { stat } from "node:fs/promises";
import { removeCopies } from "./agent-files.ts";
import { createWorktree, type CreatedWorktree, type CreateWorktreeOptions } from "./create-worktree.ts";
import { linkedWorktree } from "./linked-worktree.ts";
import { type OwnWorktree, ownWorktreeAt } from "./own-worktrees.ts";
import { openGit } from "./run-git.ts";
import { countChanged, worktreeState } from "./worktree-state.ts";
import { worktreeEndLines } from "../render/worktree-lines.ts";

/** The worktree in which a run works, if it works in one. Its disposal shows the person what is in it; one that was made and not used is removed. */
export interface WorktreeOfRun extends AsyncDisposable {
  /** The folder of the session in the worktree that was made. */
  readonly cwd?: string;
  readonly notices: readonly string[];
  /** Says in which folder the run works. */
  enter(cwd: string): void;
  /** Keeps a worktree that was made: a session works in it. */
  keep(): void;
}

export interface WorktreeOfRunOptions extends Omit<CreateWorktreeOptions, "name"> {
  /** The name that was given; `true` for one that is made up. Absent: no worktree is made. */
  readonly wanted: string | true | undefined;
  /** True if a session works in a folder. */
  isUsed(cwd: string): Promise<boolean>;
  /** Shows lines to the person at the end. */
  tell(lines: readonly string[]): void;
}

export async function openWorktreeOfRun({ wanted, isUsed, tell, ...options }: WorktreeOfRunOptions): Promise<WorktreeOfRun> {
  const { home, environment } = options;
  const made = wanted === undefined ? undefined : await createWorktree({ ...options, ...(typeof wanted === "string" && { name: wanted }) });
  let cwd = made?.cwd;
  let isKept = false;
  return {
    ...(made && { cwd: made.cwd }),
    notices: made?.notices ?? [],
    enter: (folder) => void (cwd = folder),
    keep: () => void (isKept = true),
    async [Symbol.asyncDispose]() {
      const own = cwd === undefined ? undefined : ownWorktreeAt(cwd, home);
      if (own === undefined) return;
      try {
        if (made !== undefined && !isKept && !(await isUsed(made.cwd)) && (await removeUnused(made))) return;
        tell(await endLines(own, environment));
      } catch (error) {
        tell([`worktree ${own.name}: ${own.root}`, error instanceof Error ? error.message : String(error)]);
      }
    },
  };
}

async function endLines(own: OwnWorktree, environment: CreateWorktreeOptions["environment"]): Promise<readonly string[]> {
  const linked = linkedWorktree(own.root);
  if (linked === undefined) return [];
  const git = await openGit(own.root, environment);
  return worktreeEndLines({ ...own, main: linked.main, ...(await worktreeState(git, own.root, linked.main)) });
}

/** Removes a worktree in which nothing is but what it was made with. @returns true if it is gone */
async function removeUnused({ git, root, main, base, branch, copied }: CreatedWorktree): Promise<boolean> {
  const head = await git.run(root, "rev-parse", "HEAD");
  if (head.stdout.trim() !== base) return false;
  await removeCopies(copied);
  if ((await countChanged(git, root, { ignored: true })) > 0) return false;
  const removed = await git.run(main, "worktree", "remove", root);
  if (removed.code !== 0) return false;
  // Deletes the branch only if it is where it began.
  await git.run(main, "update-ref", "-d", `refs/heads/${branch}`, base);
  return !(await stat(root).then(
    () => true,
    () => false,
  ));
}
