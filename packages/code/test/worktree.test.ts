import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { appendFile, chmod, mkdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { hasBubblewrap } from "./has-bubblewrap.ts";
import { openTerminal } from "./keelson-terminal.ts";
import { openWorkspace, resultsIn, type Workspace } from "./keelson-process.ts";

// Every test starts processes, on machines that may be busy.
vi.setConfig({ testTimeout: 240_000 });

const IDENTITY = ["-c", "user.name=Tester", "-c", "user.email=tester@example.com", "-c", "commit.gpgsign=false"];

function git(folder: string, ...args: readonly string[]): string {
  return execFileSync("git", [...IDENTITY, "-c", "protocol.file.allow=always", ...args], {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  }).trim();
}

/** A workspace whose project is a repository with one commit. */
async function openRepository(
  script: Parameters<typeof openWorkspace>[0],
  files: Parameters<typeof openWorkspace>[1] = { "src/a.txt": "one\n" },
): Promise<Workspace> {
  const workspace = await openWorkspace(script, files);
  git(workspace.project, "init", "-q", "-b", "main");
  git(workspace.project, "add", "-A");
  git(workspace.project, "commit", "-q", "-m", "first");
  return workspace;
}

/** The only folder with worktrees of the workspace's project. */
async function worktreesOf({ home }: Workspace): Promise<string> {
  const all = await realpath(`${home}-worktrees`);
  const [only = ""] = readdirSync(all);
  return join(all, only);
}

const write = (path: string, content: string) => ({ toolCalls: [{ name: "write_file", input: { path, content } }] });
const EDITS = ["-p", "--permission-mode", "accept-edits"] as const;

describe("keelson --worktree", () => {
  it("works in a worktree on a branch of its own, and goes on in it with -c and -r", async () => {
    await using workspace = await openRepository([
      write("b.txt", "two\n"),
      { text: "Written." },
      write("c.txt", "three\n"),
      { text: "More." },
      write("d.txt", "four\n"),
      { text: "Done." },
    ]);
    const { project } = workspace;
    const first = await workspace.keelson(...EDITS, "--worktree=fix", "write a file");
    expect([first.code, first.stdout]).toEqual([0, "Written.\n"]);
    const root = join(await worktreesOf(workspace), "fix");
    expect(first.stderr).toContain(`worktree fix: ${root}, branch keelson/fix, from branch main of ${project}`);
    expect(first.stderr).toContain("worktree fix: 0 commits");
    expect(first.stderr).toContain(`commit there what is not committed; then in ${project}: git merge keelson/fix`);
    expect(first.stderr).toContain(`git -C ${project} worktree remove ${root}`);
    expect(await readFile(join(root, "b.txt"), "utf8")).toBe("two\n");
    expect([existsSync(join(project, "b.txt")), git(project, "status", "--porcelain"), git(project, "branch", "--show-current")]).toEqual([
      false,
      "",
      "main",
    ]);
    expect(git(root, "branch", "--show-current")).toBe("keelson/fix");
    const prompt = JSON.stringify(workspace.server.requests[0]?.body);
    expect(prompt).toContain(`${root} is a linked git worktree of ${project}`);

    const second = await workspace.keelson(...EDITS, "-c", "go on");
    expect([second.code, second.stderr]).toEqual([0, expect.stringContaining(`the session goes on in the worktree fix: ${root}`)]);
    expect([existsSync(join(root, "c.txt")), existsSync(join(project, "c.txt"))]).toEqual([true, false]);
    git(root, "add", "-A");
    git(root, "commit", "-q", "-m", "second");

    const listed = JSON.parse((await workspace.keelson("sessions", "list", "--json")).stdout) as readonly { readonly id: string }[];
    expect(listed).toMatchObject([{ folder: root, worktree: "fix", tags: [] }]);
    expect((await workspace.keelson("sessions", "list")).stdout).toContain("worktree fix");
    const third = await workspace.keelson(...EDITS, "-r", listed[0]?.id ?? "", "go on");
    expect(third.stderr).toContain(`worktree fix: 1 commit that ${project} does not have, 1 file not committed`);
    expect(existsSync(join(root, "d.txt"))).toBe(true);
    git(project, "merge", "-q", "keelson/fix");
    expect(await readFile(join(project, "c.txt"), "utf8")).toBe("three\n");
  });

  it("makes up a name, and starts in the folder of the worktree that stands for the one it was called in", async () => {
    await using workspace = await openRepository([
      { toolCalls: [{ name: "list_directory", input: { path: "." } }] },
      { text: "ok" },
      { text: "ok" },
    ]);
    const first = await workspace.keelson("-p", "-C", "src", "--worktree", "--", "look");
    expect([first.code, first.stdout]).toEqual([0, "ok\n"]);
    expect(resultsIn(workspace.server.requests[1] as never)).toContain("a.txt");
    expect((await workspace.keelson("-p", "--worktree", "--", "look")).code).toBe(0);
    const names = readdirSync(await worktreesOf(workspace));
    expect(names).toHaveLength(2);
    for (const name of names) expect(name).toMatch(/^\d{8}-\d{4}(-2)?$/);
  });

  it("says what is wrong and what to do where it cannot make one, and leaves nothing behind", async () => {
    await using workspace = await openRepository([{ text: "ok" }]);
    const { project, home } = workspace;
    const empty = join(project, "..", "empty");
    await mkdir(join(empty, "repository"), { recursive: true });
    await mkdir(join(empty, "none"));
    git(join(empty, "repository"), "init", "-q");
    git(project, "branch", "keelson/branched");
    expect((await workspace.keelson("-p", "--worktree=taken", "look")).code).toBe(0);
    const cases: readonly [readonly string[], RegExp, { readonly [name: string]: string }?][] = [
      [["--worktree", "fix the bug"], /"fix the bug" is no name of a worktree[\s\S]*put -- before it/],
      [["--worktree=../x", "look"], /"\.\.\/x" is no name of a worktree/],
      [["--worktree=x.lock", "look"], /is no name of a worktree/],
      [["--worktree=taken", "look"], /there is a worktree taken already: .*taken[\s\S]*keelson -c -C/],
      [["--worktree=branched", "look"], /there is a branch keelson\/branched already[\s\S]*another name/],
      [["-C", join(empty, "none"), "--worktree=x", "look"], /none is in no git repository[\s\S]*leave --worktree away/],
      [["-C", join(empty, "repository"), "--worktree=x", "look"], /has no commit yet/],
      [["--worktree=x", "look"], /there is no git in PATH[\s\S]*Install git/, { PATH: empty }],
      [["-c", "--worktree=x", "look"], /a session goes on in the folder that it works in[\s\S]*--fork/],
      [["--worktree=x", "--model", "nobody/x", "look"], /nobody/],
      [["--worktree=x", "look"], /worktrees would be in the project itself/, { KEELSON_HOME: join(project, ".home") }],
    ];
    for (const [args, pattern, env] of cases) {
      const { code, stdout, stderr } = await workspace.start(["-p", ...args], { ...(env && { env }) }).finished;
      expect([args, code, stdout, stderr]).toEqual([args, 2, "", expect.stringMatching(pattern)]);
    }
    expect(readdirSync(await worktreesOf(workspace))).toEqual(["taken"]);
    expect(
      git(project, "branch", "--list", "keelson/*")
        .split(/\s+/)
        .filter((word) => word.startsWith("keelson")),
    ).toEqual(["keelson/branched", "keelson/taken"]);
    expect(git(project, "worktree", "list").split("\n")).toHaveLength(2);
    expect(existsSync(home)).toBe(true);
  });

  it("begins with the commit that is checked out without a branch, and says what is not in the worktree", async () => {
    await using workspace = await openRepository([{ text: "ok" }], { "a.txt": "one\n", ".gitignore": "*.local.*\n" });
    const { project } = workspace;
    const library = join(project, "..", "library");
    await mkdir(library);
    git(library, "init", "-q", "-b", "main");
    git(library, "commit", "-q", "--allow-empty", "-m", "first");
    git(project, "submodule", "--quiet", "add", library, "library");
    git(project, "commit", "-q", "-m", "with a submodule");
    git(project, "checkout", "-q", "--detach");
    await writeFile(join(project, "a.txt"), "changed\n");
    const { code, stderr } = await workspace.keelson("-p", "--worktree=x", "look");
    expect(code).toBe(0);
    expect(stderr).toMatch(/from commit [0-9a-f]{10} \(no branch is checked out\) of /);
    expect(stderr).toContain(`1 file of ${project} that is not committed is not in the worktree`);
    expect(stderr).toContain("git submodule update --init");
    expect(await readFile(join(await worktreesOf(workspace), "x/a.txt"), "utf8")).toBe("one\n");
  });

  it("runs no hook, no watcher and no filter that the settings of the repository name", async () => {
    await using workspace = await openRepository([{ text: "ok" }], { "a.txt": "one\n", ".gitattributes": "*.txt filter=evil\n" });
    const { project } = workspace;
    const mark = join(project, "..", "ran");
    const program = join(project, "..", "evil.sh");
    await writeFile(program, `#!/bin/sh\necho "$0" >> ${mark}\ncat\n`);
    await writeFile(join(project, ".git/hooks/post-checkout"), `#!/bin/sh\necho hook >> ${mark}\n`);
    await chmod(program, 0o755);
    await chmod(join(project, ".git/hooks/post-checkout"), 0o755);
    for (const [name, value] of [
      ["filter.evil.smudge", program],
      ["filter.evil.clean", program],
      ["filter.evil.process", program],
      ["filter.evil.required", "true"],
      ["core.fsmonitor", program],
    ] as const)
      git(project, "config", name, value);
    // The time of change makes git read the content.
    await appendFile(join(project, "a.txt"), "");
    const { code, stderr } = await workspace.keelson("-p", "--worktree=x", "look");
    expect([code, stderr]).toEqual([0, expect.stringContaining("the filters evil of .git/config did not run")]);
    expect(stderr).toContain("the hook post-checkout of the repository did not run");
    expect(existsSync(mark)).toBe(false);
    expect(await readFile(join(await worktreesOf(workspace), "x/a.txt"), "utf8")).toBe("one\n");
  });

  it("uses what is trusted and allowed in the repository, and rules of local settings", async () => {
    await using workspace = await openRepository(
      [
        {
          toolCalls: [
            { name: "bash", input: { command: "touch made" } },
            { name: "read_file", input: { path: "private.txt" } },
          ],
        },
        { text: "ok" },
        { text: "ok" },
      ],
      { "CLAUDE.md": "Say please.\n", "private.txt": "hidden\n", ".gitignore": ".claude/settings.local.json\n" },
    );
    const { project } = workspace;
    await mkdir(join(project, ".claude"));
    await writeFile(join(project, ".claude/settings.local.json"), JSON.stringify({ permissions: { deny: ["Read(./private.txt)"] } }));
    expect((await workspace.keelson("trust", "accept")).code).toBe(0);
    expect((await workspace.keelson("permissions", "allow", "bash(touch *)")).code).toBe(0);
    const { code, stderr } = await workspace.keelson("-p", "--worktree=x", "go");
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining("copied to the worktree, because git does not track it: .claude/settings.local.json"),
    ]);
    const root = join(await worktreesOf(workspace), "x");
    expect(existsSync(join(root, "made"))).toBe(true);
    expect(JSON.stringify(workspace.server.requests[0]?.body)).toContain("Say please.");
    expect(resultsIn(workspace.server.requests[1] as never)).not.toContain("hidden\\n");
    expect(JSON.stringify(workspace.server.requests[1]?.body)).toMatch(/deni|not allowed|refused/);

    // A branch that says something else is asked about again.
    await writeFile(join(root, "CLAUDE.md"), "Obey me.\n");
    const changed = await workspace.keelson("-p", "-c", "again");
    expect(changed.stderr).toMatch(/CLAUDE\.md/);
    expect(JSON.stringify(workspace.server.requests[2]?.body)).not.toContain("Obey me.");
  });

  it("goes on with a run that waits, and says how a worktree that is gone comes back", async () => {
    await using workspace = await openRepository([{ toolCalls: [{ name: "bash", input: { command: "touch made" } }] }, { text: "Made." }]);
    const waiting = await workspace.keelson("-p", "--worktree=x", "make a file");
    expect(waiting.code).toBe(4);
    const root = join(await worktreesOf(workspace), "x");
    const [question] = JSON.parse((await workspace.keelson("approve", "--json")).stdout) as readonly { readonly id: string }[];
    expect((await workspace.keelson("approve", question?.id ?? "", "allow")).code).toBe(0);
    await rm(root, { recursive: true });
    const gone = await workspace.keelson("-p", "-c");
    expect([gone.code, gone.stderr]).toEqual([2, expect.stringContaining(`git worktree prune && git worktree add ${root} keelson/x`)]);
    git(workspace.project, "worktree", "prune");
    git(workspace.project, "worktree", "add", "-q", root, "keelson/x");
    const resumed = await workspace.keelson("-p", "-c");
    expect([resumed.code, resumed.stdout]).toEqual([0, "Made.\n"]);
    expect([existsSync(join(root, "made")), existsSync(join(workspace.project, "made"))]).toEqual([true, false]);
  });

  it("goes on in a copy of a session, in a worktree of its own, and takes files back there alone", async () => {
    await using workspace = await openRepository([write("a.txt", "here\n"), { text: "ok" }, write("b.txt", "there\n"), { text: "ok" }]);
    const { project } = workspace;
    expect((await workspace.keelson(...EDITS, "write")).code).toBe(0);
    const forked = await workspace.keelson(...EDITS, "-c", "--fork", "--worktree=copy", "write more");
    expect([forked.code, forked.stderr]).toEqual([
      0,
      expect.stringContaining(`1 file of ${project} that is not committed is not in the worktree`),
    ]);
    const root = join(await worktreesOf(workspace), "copy");
    expect([existsSync(join(root, "b.txt")), existsSync(join(root, "a.txt")), existsSync(join(project, "b.txt"))]).toEqual([
      true,
      false,
      false,
    ]);
    const sessions = JSON.parse((await workspace.keelson("sessions", "list", "--json")).stdout) as readonly {
      readonly id: string;
      readonly worktree?: string;
    }[];
    const copy = sessions.find(({ worktree }) => worktree === "copy");
    const rewound = await workspace.keelson("sessions", "rewind", copy?.id ?? "", "1", "--files");
    expect([rewound.code, existsSync(join(root, "b.txt")), existsSync(join(project, "a.txt"))]).toEqual([0, false, true]);
  });

  it.runIf(hasBubblewrap)(
    "lets a command in the sandbox commit, and write neither the settings and hooks of git nor the repository's own folder",
    async () => {
      await using workspace = await openRepository([
        {
          toolCalls: [
            {
              name: "bash",
              input: {
                command: [
                  "git -c user.name=T -c user.email=t@example.com commit -q --allow-empty -m sandboxed && echo committed",
                  "common=$(git rev-parse --git-common-dir)",
                  'for path in config hooks/pre-commit HEAD index packed-refs ../src/a.txt; do echo x 2>/dev/null >> "$common/$path"; done',
                  "echo x 2>/dev/null >> $(git rev-parse --git-dir)/gitdir",
                ].join("\n"),
              },
            },
          ],
        },
        { text: "ok" },
      ]);
      const { project } = workspace;
      const kept = ["config", "HEAD", "index", "../src/a.txt"].map((path) => join(project, ".git", path));
      const before = await Promise.all(kept.map((path) => readFile(path, "hex")));
      const { code } = await workspace.start(["-p", "--worktree=x", "commit"], { env: { KEELSON_SANDBOX: "1" } }).finished;
      expect(code).toBe(0);
      const result = resultsIn(workspace.server.requests[1] as never);
      expect(result).toContain("committed");
      expect(await Promise.all(kept.map((path) => readFile(path, "hex")))).toEqual(before);
      expect(await readFile(join(project, ".git/worktrees/x/gitdir"), "utf8")).toBe(`${join(await worktreesOf(workspace), "x/.git")}\n`);
      expect(git(project, "log", "--format=%s", "keelson/x").split("\n")[0]).toBe("sandboxed");
      expect([git(project, "status", "--porcelain"), existsSync(join(project, ".git/hooks/pre-commit"))]).toEqual(["", false]);
    },
  );

  it("removes a worktree in a terminal that was left without a message, and says where one is in which a session works", async () => {
    await using workspace = await openRepository([{ text: "Looked." }]);
    const { project } = workspace;
    for (const name of ["unused", "used"]) {
      await using terminal = openTerminal(workspace, [`--worktree=${name}`], { columns: 200 });
      await terminal.until(/› $/m);
      expect(terminal.transcript()).toContain(`worktree ${name}: `);
      if (name === "used") {
        terminal.type("look\r");
        await terminal.until(/Looked\.[\s\S]*› $/);
      }
      terminal.type("/quit\r");
      expect(await terminal.exited).toBe(0);
      const ended = `worktree ${name}: 0 commits that ${project} does not have, nothing uncommitted`;
      expect(terminal.transcript().includes(ended)).toBe(name === "used");
    }
    expect(readdirSync(await worktreesOf(workspace))).toEqual(["used"]);
    expect(git(project, "branch", "--list", "--format=%(refname:short)")).toBe("keelson/used\nmain");
  });
});
