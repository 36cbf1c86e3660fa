import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { readCommandLine } from "../read-command-line.ts";

const run = promisify(execFile);
let home: string;
let folder: string;

beforeEach(async () => {
  const root = await realpath(await mkdtemp(join(tmpdir(), "keelson-git-")));
  home = join(root, "home");
  folder = join(root, "project");
  await mkdir(home);
  await mkdir(folder);
  vi.stubEnv("HOME", home);
  vi.stubEnv("XDG_CONFIG_HOME", "");
  await git("init", "-q");
  await writeFile(join(folder, "a.txt"), "a\n");
  await git("add", "a.txt");
  await git("commit", "-q", "-m", "one");
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(join(folder, ".."), { recursive: true, force: true });
});

async function git(...args: readonly string[]): Promise<void> {
  await run("git", ["-c", "user.name=a", "-c", "user.email=a@a.test", ...args], { cwd: folder });
}

/** The command of git in a line: true if it runs unasked, else the reason. */
async function judged(line = "git status"): Promise<true | string | undefined> {
  const { commands } = await readCommandLine(line, { cwd: folder });
  const command = commands?.find(({ text }) => text.startsWith("git"));
  return command?.readOnly === true ? true : command?.asks;
}

describe("a command of git that only looks", () => {
  it("runs unasked in an ordinary repository, in a folder of one, and outside of any", async () => {
    expect(await judged()).toBe(true);
    await mkdir(join(folder, "sub"));
    expect(await judged("cd sub && git log")).toBe(true);
    expect(await judged("git -C sub log")).toBe(true);
    await rm(join(folder, ".git"), { recursive: true });
    expect(await judged()).toBe(true);
  });

  it("runs unasked with the settings that people have", async () => {
    await git("remote", "add", "origin", "https://example.com/a.git");
    await git("config", "branch.main.remote", "origin");
    await git("config", "core.hooksPath", ".husky/_");
    await writeFile(
      join(home, ".gitconfig"),
      `# mine
[user]
	name = "A B"
	email = a@a.test
[core]
	editor = vim
	pager = delta
	excludesFile = ~/.gitignore
[alias]
	st = status
	run = "!f() { \\
		true; \\
	}; f"
[filter "lfs"]
	clean = git-lfs clean -- %f
	smudge = git-lfs smudge -- %f
	process = git-lfs filter-process
	required = true
[includeIf "gitdir:~/work/"]
	path = .gitconfig-work
[credential "https://example.com"]
	helper = !gh auth git-credential
`,
    );
    await writeFile(join(home, ".gitconfig-work"), "[user]\n\temail = b@b.test\n");
    expect(await judged()).toBe(true);
  });

  it.each([
    ["core.fsmonitor", "./evil"],
    ["core.fsmonitor", "true"],
    ["core.pager", "./evil"],
    ["core.sshCommand", "./evil"],
    ["core.attributesFile", "/tmp/x"],
    ["core.excludesFile", "/etc/passwd"],
    ["core.worktree", "/tmp"],
    ["core.alternateRefsCommand", "./evil"],
    ["diff.external", "./evil"],
    ["diff.evil.textconv", "./evil"],
    ["diff.evil.command", "./evil"],
    ["diff.submodule", "diff"],
    ["filter.evil.clean", "./evil"],
    ["filter.lfs.clean", "./evil"],
    ["lfs.extension.evil.clean", "./evil"],
    ["gpg.program", "./evil"],
    ["log.showSignature", "true"],
    ["format.pretty", "%G?"],
    ["pretty.evil", "%G?"],
    ["alias.evil", "!./evil"],
    ["include.path", "/tmp/x"],
    ["includeIf.gitdir:/.path", "/tmp/x"],
    ["extensions.partialClone", "origin"],
    ["remote.origin.promisor", "true"],
    ["remote.origin.uploadpack", "./evil"],
    ["remote.origin.vcs", "evil"],
    ["blame.ignoreRevsFile", "/etc/passwd"],
    ["mailmap.file", "/etc/passwd"],
    ["status.submoduleSummary", "true"],
    ["submodule.recurse", "true"],
    ["hook.evil.command", "./evil"],
    ["trace2.eventTarget", "/tmp/x"],
  ])("is asked about if the repository sets %s to %s, and the question names the setting", async (name, value) => {
    await git("config", name, value);
    const reason = await judged();
    expect(reason).toContain(`${join(folder, ".git", "config")} sets ${name.toLowerCase()}`);
  });

  it.each([
    ["[core] fsmonitor = ./evil\n"],
    ['[core]\n\tfilemode = true # "\n\teditor = "a\n'],
    ["[core]\n\tfsmon\\\nitor = ./evil\n"],
    ["[core]\n\tfilemode = true\u000b\n"],
    ["fsmonitor = ./evil\n"],
    ["[core]\n\tfilemode = true\n\u0000"],
  ])("is asked about if the settings %j are not understood", async (text) => {
    await writeFile(join(folder, ".git", "config"), text);
    expect(await judged()).toContain("not understood");
  });

  it("is asked about if a comment seems to continue the line before a setting", async () => {
    await writeFile(join(folder, ".git", "config"), "[core]\n\tfilemode = true # \\\n\tfsmonitor = ./evil\n");
    expect(await judged()).toContain("core.fsmonitor");
  });

  it("is asked about if a file that the user's settings include starts a program", async () => {
    await writeFile(join(home, ".gitconfig"), "[include]\n\tpath = more\n");
    await writeFile(join(home, "more"), "[diff]\n\texternal = ./evil\n");
    expect(await judged("git diff")).toContain("diff.external");
  });

  it("is asked about if a hook runs after git refreshed its index", async () => {
    const hook = join(folder, ".git", "hooks", "post-index-change");
    await mkdir(join(hook, ".."), { recursive: true });
    await writeFile(hook, "#!/bin/sh\n./evil\n");
    await chmod(hook, 0o755);
    expect(await judged()).toContain("post-index-change");
    await rm(hook);
    await mkdir(join(folder, "hooks"));
    await writeFile(join(folder, "hooks", "post-index-change"), "");
    await git("config", "core.hooksPath", "hooks");
    expect(await judged()).toContain("post-index-change");
  });

  it("is asked about in a folder that is itself a repository, and in the folder of git", async () => {
    await rename(join(folder, ".git"), join(folder, "embedded"));
    expect(await judged("cd embedded && git status")).toContain("repository of git itself");
    expect(await judged("git -C embedded log")).toContain("repository of git itself");
    const { commands } = await readCommandLine("git -C embedded status", { cwd: folder });
    // A caution keeps rules with a wildcard from covering it.
    expect(commands?.[0]?.caution).toContain("repository of git itself");
    await rename(join(folder, "embedded"), join(folder, ".git"));
    expect(await judged("cd .git && git log")).toContain("repository of git itself");
  });

  it("is asked about if the repository has submodules, and runs unasked in one that is ordinary", async () => {
    await git("init", "-q", "sub");
    await git("-C", "sub", "commit", "-q", "--allow-empty", "-m", "one");
    await git("add", "sub");
    expect(await judged()).toContain("submodules");
    await run("git", ["config", "core.fsmonitor", "./evil"], { cwd: join(folder, "sub") });
    expect(await judged("git -C sub status")).toContain("core.fsmonitor");
  });

  it("is judged by the settings of the repository that a file named .git points to", async () => {
    await git("worktree", "add", "-q", "../tree");
    const tree = join(folder, "..", "tree");
    const { commands } = await readCommandLine("git status", { cwd: tree });
    expect(commands?.[0]).toMatchObject({ readOnly: true });
    await git("config", "core.fsmonitor", "./evil");
    const after = await readCommandLine("git status", { cwd: tree });
    expect(after.commands?.[0]).toMatchObject({ asks: expect.stringContaining("core.fsmonitor") });
  });

  it("is asked about if a file named .git points to another repository, or is a link to one", async () => {
    const other = join(folder, "..", "other");
    await run("git", ["init", "-q", other]);
    await rename(join(folder, ".git"), join(folder, "..", "kept"));
    await writeFile(join(folder, ".git"), `gitdir: ${join(other, ".git")}\n`);
    expect(await judged()).toContain("does not belong to it");
    await rm(join(folder, ".git"));
    await symlink(join(other, ".git"), join(folder, ".git"));
    expect(await judged()).toContain("is a link");
    await rm(join(folder, ".git"));
    await rename(join(folder, "..", "kept"), join(folder, ".git"));
    await writeFile(join(folder, ".git", "commondir"), `${join(other, ".git")}\n`);
    expect(await judged()).toContain("is no folder of a work tree");
  });

  it.each(["packed-refs", "shallow", "info/grafts", "objects/info/alternates", "rebase-merge/git-rebase-todo"])(
    "is asked about if %s of its repository is a link, since git quotes that file",
    async (name) => {
      await mkdir(join(folder, ".git", name, ".."), { recursive: true });
      await symlink("/etc/passwd", join(folder, ".git", name));
      expect(await judged("git branch")).toContain("is a link");
    },
  );

  it("is asked about in a repository that begins above the workspace if it may show files that are not in it", async () => {
    const sub = join(folder, "sub");
    await mkdir(sub);
    const judge = async (line: string) => (await readCommandLine(line, { cwd: sub })).commands?.[0];
    for (const line of ["git status", "git log --oneline", "git diff -- a.ts"]) expect(await judge(line)).toMatchObject({ readOnly: true });
    for (const line of ["git log -p", "git diff", "git show HEAD:a.txt", "git grep x"])
      expect(await judge(line)).toMatchObject({ asks: expect.stringContaining("outside of the working directory") });
  });

  it("names the files that it reads from the folder in which it works", async () => {
    await mkdir(join(folder, "private"));
    expect((await readCommandLine("git -C private diff -- x", { cwd: folder })).reads).toEqual([join(folder, "private", "x")]);
    expect((await readCommandLine("cd private && git show HEAD:x", { cwd: folder })).mayTouch).toContain("*");
  });

  it("is not understood if it works in a folder outside of the workspace, as no program is that obeys files of its folder", async () => {
    for (const line of ["git -C ../other status", "git -C /tmp commit -m x", "make -C ../other test", "npm --prefix ../other test"])
      expect((await readCommandLine(line, { cwd: folder })).commands?.[0]?.unlisted, line).toHaveLength(1);
    expect((await readCommandLine("make -C sub test", { cwd: folder })).commands?.[0]).not.toHaveProperty("unlisted");
  });

  it("is asked about if the folder in which it works is not known", async () => {
    expect(await judged("cd $X && git status")).toContain("not known");
  });

  it("is judged in the folder of this process if no other is given", async () => {
    await git("config", "core.fsmonitor", "./evil");
    vi.spyOn(process, "cwd").mockReturnValue(folder);
    expect((await readCommandLine("git status")).commands?.[0]).toMatchObject({ asks: expect.stringContaining("core.fsmonitor") });
  });

  it("is covered by a rule with a wildcard all the same", async () => {
    await git("config", "core.fsmonitor", "./evil");
    const { commands } = await readCommandLine("git status", { cwd: folder });
    expect(commands?.[0]).not.toHaveProperty("unlisted");
    expect(commands?.[0]).not.toHaveProperty("caution");
  });
});
