import { release } from "node:os";
import { basename } from "node:path";
import { linkedWorktree } from "../worktrees/linked-worktree.ts";
import { describeGitState, readGitState } from "./git-state.ts";

export interface SessionFactsOptions {
  readonly cwd: string;
  /** The root of the repository. */
  readonly project: string;
  /** Folders beside the working directory. */
  readonly folders: readonly string[];
  readonly environment: { readonly [name: string]: string | undefined };
  /** Unix ms. */
  readonly now: number;
}

/**
 * Describes where and when a session begins: date, system, folders, git. It is made once and recorded with the session, so that later runs and a
 * resume have the same prompt.
 */
export function sessionFacts({ cwd, project, folders, environment, now }: SessionFactsOptions): string {
  const date = new Date(now);
  const day = new Intl.DateTimeFormat("en", { weekday: "long" }).format(date);
  const git = readGitState(project);
  const worktree = linkedWorktree(project);
  const two = (value: number): string => String(value).padStart(2, "0");
  return [
    "At the start of this session:",
    `- Date: ${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} (${day})`,
    `- System: ${process.platform} ${release()}, ${process.arch}; the person's shell is ${basename(environment["SHELL"] ?? "unknown")}`,
    `- Folder: ${cwd}${project === cwd ? "" : `, in the repository ${project}`}`,
    ...(worktree === undefined
      ? []
      : [
          `- Worktree: ${worktree.root} is a linked git worktree of ${worktree.main}. Work here and not there. Files that git ignores, such as installed packages, may be missing.`,
        ]),
    ...(folders.length > 0 ? [`- Other folders that you may use: ${folders.join(", ")}`] : []),
    `- Git: ${git === undefined ? "not a repository" : describeGitState(git)}`,
  ].join("\n");
}
