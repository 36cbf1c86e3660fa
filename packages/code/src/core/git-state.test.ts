import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { describeGitState, readBranch, readGitState } from "./git-state.ts";

let root: string;
const git = (...args: string[]) =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main", ...args], {
    cwd: root,
    stdio: "pipe",
  }).toString();
const put = (path: string, text: string) => writeFileSync(join(root, path), text);

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "keelson-git-")));
  git("init", "-q");
});
afterEach(() => rmSync(root, { recursive: true }));

const commitTwo = () => {
  put("a.txt", "one");
  put("b.txt", "two");
  git("add", ".");
  git("commit", "-qm", "first");
};

describe("readGitState", () => {
  it("reads branch, commit and changed files", () => {
    expect(readGitState(root)).toEqual({ branch: "main", changed: { modified: 0, deleted: 0 } });
    commitTwo();
    const commit = git("rev-parse", "HEAD").slice(0, 10);
    expect(readGitState(root)).toEqual({ branch: "main", commit, changed: { modified: 0, deleted: 0 } });
    put("a.txt", "another size");
    rmSync(join(root, "b.txt"));
    put("new.txt", "not tracked");
    git("checkout", "-qb", "feature/x");
    expect(readGitState(root)).toEqual({ branch: "feature/x", commit, changed: { modified: 1, deleted: 1 } });
  });

  it("takes a file for unchanged that was only touched, and for changed if its content differs in the same size", () => {
    commitTwo();
    utimesSync(join(root, "a.txt"), 1, 1);
    expect(readGitState(root)?.changed).toEqual({ modified: 0, deleted: 0 });
    put("b.txt", "2wo");
    utimesSync(join(root, "b.txt"), 1, 1);
    expect(readGitState(root)?.changed).toEqual({ modified: 1, deleted: 0 });
  });

  it.each(["2", "3", "4"])("passes over what git does not look at either, in an index of version %s", (version) => {
    commitTwo();
    put("ä.txt", "three");
    git("add", ".");
    git("update-index", "--index-version", version);
    git("update-index", "--assume-unchanged", "a.txt");
    git("update-index", "--skip-worktree", "b.txt");
    for (const path of ["a.txt", "b.txt", "ä.txt"]) put(path, "another size");
    expect(readGitState(root)?.changed).toEqual({ modified: 1, deleted: 0 });
  });

  it("names a merge that is under way, a commit without a branch, and packed refs", () => {
    commitTwo();
    git("pack-refs", "--all");
    const commit = git("rev-parse", "HEAD").slice(0, 10);
    expect(readGitState(root)?.commit).toBe(commit);
    git("checkout", "-q", "--detach");
    put(".git/MERGE_HEAD", "x");
    const state = readGitState(root);
    expect(state).toEqual({ commit, underWay: "merge", changed: { modified: 0, deleted: 0 } });
    expect(describeGitState(state as NonNullable<typeof state>)).toBe(
      `no branch, commit ${commit} checked out; a merge is under way; no tracked file changed`,
    );
  });

  it("runs no program that the settings of the repository name", () => {
    commitTwo();
    const trap = join(root, "trap.sh");
    put("trap.sh", `#!/bin/sh\ntouch ${root}/caught\ncat\n`);
    chmodSync(trap, 0o755);
    for (const key of ["core.fsmonitor", "core.pager", "filter.x.clean", "filter.x.smudge"]) git("config", key, trap);
    put(".gitattributes", "* filter=x\n");
    utimesSync(join(root, "a.txt"), 1, 1);
    expect(readGitState(root)?.changed).toEqual({ modified: 0, deleted: 0 });
    expect(existsSync(join(root, "caught"))).toBe(false);
  });

  it("reads the branch of a worktree, and of a broken repository as much as is there", () => {
    commitTwo();
    git("worktree", "add", "-q", join(root, "tree"), "-b", "other");
    expect(readGitState(join(root, "tree"))).toMatchObject({ branch: "other", changed: { modified: 0, deleted: 0 } });
    put(".git/index", "DIRC");
    expect(readGitState(root)).not.toHaveProperty("changed");
    mkdirSync(join(root, "plain"));
    expect(readGitState(join(root, "plain"))).toBeUndefined();
  });
});

describe("readBranch", () => {
  it("reads the branch from any folder of a repository, before and after the first commit", () => {
    mkdirSync(join(root, "src/deep"), { recursive: true });
    expect(readBranch(join(root, "src/deep"))).toBe("main");
    commitTwo();
    git("checkout", "-qb", "feature/x");
    expect([readBranch(root), readBranch(join(root, "src"))]).toEqual(["feature/x", "feature/x"]);
  });

  it("gives the beginning of the commit if no branch is checked out, and nothing outside of a repository", () => {
    commitTwo();
    git("checkout", "-q", "--detach");
    expect(readBranch(root)).toBe(git("rev-parse", "HEAD").slice(0, 10));
    rmSync(join(root, ".git"), { recursive: true });
    expect(readBranch(root)).toBeUndefined();
  });
});
