import { existsSync } from "node:fs";
import { realpath, rmdir, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { makeFolder } from "keelson/environment";
import { UsageError } from "../options/usage-error.ts";
import { copyAgentFiles, type CopiedFile } from "./agent-files.ts";
import { findRoot, linkedWorktree } from "./linked-worktree.ts";
import { BRANCH_PREFIX, worktreesFolder, worktreesOf } from "./own-worktrees.ts";
import { type Git, openGit, refusedByGit } from "./run-git.ts";
import { countChanged } from "./worktree-state.ts";

const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9_-])?$/;
const MAX_TRIES = 100;

export interface CreateWorktreeOptions {
  /** The folder in which the command was started; a real path. */
  readonly folder: string;
  /** Absent: the date and the time. */
  readonly name?: string | undefined;
  /** The folder of Keelson. */
  readonly home: string;
  readonly environment: { readonly [name: string]: string | undefined };
  /** Unix ms. */
  readonly now: number;
}

export interface CreatedWorktree {
  readonly git: Git;
  readonly name: string;
  readonly branch: string;
  readonly root: string;
  /** The folder in it at the place of the one in which the command was started. */
  readonly cwd: string;
  /** The folder that the repository began with. */
  readonly main: string;
  /** The commit that it begins with. */
  readonly base: string;
  readonly copied: readonly CopiedFile[];
  /** Lines for the person: its place, and what it lacks. */
  readonly notices: readonly string[];
}

/**
 * Makes a worktree with a branch of its own, from the commit that is checked out in a folder.
 * @throws UsageError with the remedy if that cannot be done
 */
export async function createWorktree({ folder, name: given, home, environment, now }: CreateWorktreeOptions): Promise<CreatedWorktree> {
  if (given !== undefined) checkName(given);
  const from = findRoot(folder);
  if (from === undefined)
    throw new UsageError(
      `${folder} is in no git repository`,
      "--worktree needs one with a commit (git init, git add, git commit). Or leave --worktree away.",
    );
  const git = await openGit(from, environment);
  const inside = await git.run(from, "rev-parse", "--is-inside-work-tree");
  if (inside.code !== 0) throw refusedByGit(from, inside.stderr);
  if (inside.stdout.trim() !== "true")
    throw new UsageError(
      `${from} is not the folder of a checked-out repository`,
      "Start keelson in a folder with the files of the project.",
    );
  const head = await git.run(from, "rev-parse", "--verify", "--quiet", "HEAD^{commit}");
  if (head.code !== 0)
    throw new UsageError(
      `the repository ${from} has no commit yet`,
      "A worktree begins with a commit: make one, or leave --worktree away.",
    );
  const base = head.stdout.trim();
  const main = linkedWorktree(from)?.main ?? from;
  // Before anything is made, so that a failure leaves nothing behind.
  const begins = await describeHead(git, from, base);
  const changes = await describeChanges(git, from);
  const all = worktreesFolder(home);
  for (const project of [from, main])
    if (all.startsWith(`${project}${sep}`))
      throw new UsageError(
        `worktrees would be in the project itself: ${all}`,
        "KEELSON_HOME names a folder of the project: set it to one elsewhere, or leave it unset.",
      );
  makeFolder(all, 0o700);
  const place = worktreesOf(home, main);
  makeFolder(place, 0o700);

  const { name, branch, root } = await add({ git, from, place, base, given, now });
  const cwd = join(root, relative(from, folder));
  const isThere = await stat(cwd).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
  const { copied, notices } = await copyAgentFiles({ git, from, to: root, prefix: relative(from, folder).split(sep).join("/") });
  return {
    ...{ git, name, branch, root, main, base, copied },
    cwd: isThere ? await realpath(cwd) : root,
    notices: [
      `worktree ${name}: ${root}, branch ${branch}, from ${begins} of ${from}`,
      ...(isThere ? [] : [`the folder ${relative(from, folder)} is not in that commit: the session works in the root of the worktree`]),
      ...changes,
      ...notices,
      ...(existsSync(join(root, ".gitmodules"))
        ? ["submodules are empty in the worktree; to fill them, run there: git submodule update --init"]
        : []),
      ...(git.leftFilters.length === 0
        ? []
        : [
            `the filters ${git.leftFilters.join(", ")} of .git/config did not run, so some files are as git stores them; to run them, in the worktree: git rm --cached -rq . && git reset --hard`,
          ]),
      ...(await hookNotice(git, from)),
    ],
  };
}

interface Place {
  readonly git: Git;
  readonly from: string;
  /** The folder of the repository's worktrees. */
  readonly place: string;
  readonly base: string;
  readonly given: string | undefined;
  readonly now: number;
}

async function add({ git, from, place, base, given, now }: Place): Promise<{ name: string; branch: string; root: string }> {
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const name = given ?? `${timeName(now)}${attempt === 1 ? "" : `-${attempt}`}`;
    const branch = `${BRANCH_PREFIX}${name}`;
    const root = join(await realpath(place), name);
    const taken = async (): Promise<string | undefined> => {
      if (existsSync(root)) return `there is a worktree ${name} already: ${root}`;
      const { code } = await git.run(from, "show-ref", "--verify", "--quiet", `refs/heads/${branch}`);
      return code === 0 ? `there is a branch ${branch} already` : undefined;
    };
    let reason = await taken();
    if (reason === undefined) {
      const made = await git.run(from, "worktree", "add", "--quiet", "--no-track", "-b", branch, root, base);
      if (made.code === 0) return { name, branch, root };
      // Another process may have been faster.
      reason = await taken();
      if (given !== undefined || reason === undefined) {
        await rmdir(root).catch(() => {});
        throw refusedByGit(from, made.stderr);
      }
    }
    if (given !== undefined)
      throw new UsageError(
        reason,
        existsSync(root)
          ? `Go on in it with: keelson -c -C ${root}. Or give another name.`
          : `Give another name. If you do not need it, delete it: git branch -d ${branch}`,
      );
  }
  throw new UsageError(`the names ${timeName(now)} to ${timeName(now)}-${MAX_TRIES} are taken`, "Give a name: --worktree=<name>.");
}

function checkName(name: string): void {
  if (NAME.test(name) && !name.includes("..") && !name.endsWith(".lock")) return;
  throw new UsageError(
    `${JSON.stringify(name)} is no name of a worktree`,
    /\s/.test(name)
      ? `A name has letters, digits and . _ -. If it is the task, put -- before it: keelson --worktree -- ${JSON.stringify(name)}`
      : "A name has 1 to 64 letters, digits and . _ -, as in --worktree=fix-login.",
  );
}

function timeName(now: number): string {
  const date = new Date(now);
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${date.getFullYear()}${two(date.getMonth() + 1)}${two(date.getDate())}-${two(date.getHours())}${two(date.getMinutes())}`;
}

async function describeHead(git: Git, from: string, base: string): Promise<string> {
  const { code, stdout } = await git.run(from, "symbolic-ref", "--quiet", "--short", "HEAD");
  return code === 0 ? `branch ${stdout.trim()}` : `commit ${base.slice(0, 10)} (no branch is checked out)`;
}

async function describeChanges(git: Git, from: string): Promise<readonly string[]> {
  const changed = await countChanged(git, from);
  if (changed === 0) return [];
  return [
    `${changed} ${changed === 1 ? "file" : "files"} of ${from} that ${changed === 1 ? "is" : "are"} not committed ${changed === 1 ? "is" : "are"} not in the worktree`,
  ];
}

async function hookNotice(git: Git, from: string): Promise<readonly string[]> {
  const { stdout } = await git.run(from, "rev-parse", "--git-common-dir");
  const folder = join(from, stdout.trim());
  const path = [join(folder, "hooks/post-checkout"), join(stdout.trim(), "hooks/post-checkout")].find((one) => existsSync(one));
  return path === undefined ? [] : ["the hook post-checkout of the repository did not run"];
}
