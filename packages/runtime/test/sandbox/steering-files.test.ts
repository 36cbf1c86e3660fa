import { execFileSync, spawn } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createDiskVfs, createSandboxExecutor, GIT_STEERING_PATHS, STEERING_PATHS } from "keelson/environment";
import { afterAll, afterEach, beforeEach, expect, it } from "vitest";
import { describeWithBubblewrap } from "./with-bubblewrap.ts";

// The notes of sandboxes between commands, read at the first command.
const home = mkdtempSync(join(tmpdir(), "keelson-home-"));
process.env["KEELSON_HOME"] = home;
afterAll(() => rmSync(home, { recursive: true, force: true }));

let workspace: string;
beforeEach(() => {
  workspace = realpathSync(mkdtempSync(join(tmpdir(), "keelson-steering-")));
});
afterEach(() => rmSync(workspace, { recursive: true, force: true }));

const run = (command: string) => createSandboxExecutor({}, { workspace }).execute({ command });
const put = (path: string, text = "ours\n"): void => {
  mkdirSync(dirname(join(workspace, path)), { recursive: true });
  writeFileSync(join(workspace, path), text);
};
const exists = (path: string): boolean => lstatSync(join(workspace, path), { throwIfNoEntry: false }) !== undefined;
const named = [...STEERING_PATHS.map((path) => path.replaceAll("*", "x")), ...GIT_STEERING_PATHS.map((path) => `.git/${path}`)];

describeWithBubblewrap("files that steer later work, in a sandbox", () => {
  it("stay as they are at any depth if they exist, and so do the folders that they lie in", async () => {
    const paths = ["AGENTS.md", "a/b/AGENTS.md", "sub/.vscode/tasks.json", "sub/.envrc", "deep/er/.mcp.json", "sub/.cargo/config.toml"];
    for (const path of paths) put(path);
    const tries = paths.flatMap((path) => [
      `echo x > ${path}`,
      `rm -rf ${path}`,
      `mv ${path} was`,
      `echo x > new && mv -f new ${path}`,
      `ln -f new ${path}`,
    ]);
    await run([...tries, "mv a c", "mv deep/er deep/est", "rm -rf sub", "mv sub/.vscode sub/v"].join("; "));
    for (const path of paths) expect([path, readFileSync(join(workspace, path), "utf8")]).toEqual([path, "ours\n"]);
  });

  it("are moved aside if a command makes them, at any depth, and the result names them and where they lie", async () => {
    const paths = named.filter((path) => !path.endsWith("todo") && !/^\.git\/(config.*|info\/attributes|modules)$/.test(path));
    const script = paths.map((path) => `mkdir -p "$(dirname "sub/${path}")"; [ -e "sub/${path}" ] || echo x > "sub/${path}"`);
    const { stderr, movedAside = [] } = await run(script.join("\n"));
    for (const path of paths) expect([path, exists(`sub/${path}`)]).toEqual([path, false]);
    expect(stderr).toContain("Sandbox: moved aside");
    for (const { path, to } of movedAside) expect([path, to !== undefined && lstatSync(to).isFile()]).toEqual([path, true]);
    expect(movedAside.map(({ path }) => path)).toContain(join(workspace, "sub/AGENTS.md"));
  });

  it("show no placeholder while a command runs, and leave nothing behind", async () => {
    mkdirSync(join(workspace, ".git"));
    expect(await run("ls -A; ls -A .git")).toMatchObject({ stdout: ".git\n", stderr: "" });
    expect([readdirSync(workspace), readdirSync(join(workspace, ".git"))]).toEqual([[".git"], []]);
  });

  it.each([
    ["a folder that is moved to its place", "mkdir x; echo x > x/tasks.json; mv x .vscode", ".vscode"],
    ["a folder above it that is moved", "mkdir -p x/y; echo x > x/y/.envrc; mv x sub", "sub/y/.envrc"],
    ["a symbolic link", "echo x > x; ln -s x AGENTS.md", "AGENTS.md"],
    ["a link that leads nowhere", "ln -s nowhere .mcp.json", ".mcp.json"],
    ["a hard link", "echo x > x; ln x .envrc", ".envrc"],
    ["a pipe", "mkfifo .npmrc", ".npmrc"],
    ["an entry in other letters", "echo x > Agents.MD", "Agents.MD"],
    [
      "an entry in a folder whose name is no UTF-8",
      `mkdir "$(printf 'a\\377')"; echo x > "$(printf 'a\\377/.envrc')"; mv a* b`,
      "b/.envrc",
    ],
    ["an entry that a new rule for git leaves out", "echo sub > .gitignore; mkdir sub; echo x > sub/.envrc", "sub/.envrc"],
    ["an archive that is unpacked", "mkdir x; echo x > x/.envrc; tar cf x.tar x; rm -r x; tar xf x.tar", "x/.envrc"],
    ["a folder that nobody may write", "mkdir x; echo x > x/.envrc; chmod 555 x", "x/.envrc"],
  ])("are moved aside if they are %s", async (_name, command, path) => {
    const { movedAside = [], stderr } = await run(command);
    expect(exists(path), stderr).toBe(false);
    expect(movedAside).toHaveLength(1);
  });

  it("are moved aside in a folder whose name is no UTF-8", async () => {
    const { movedAside = [] } = await run(`mkdir "$(printf 'a\\377')"; echo x > "$(printf 'a\\377/.envrc')"`);
    expect(movedAside.map(({ to }) => to?.endsWith("/.envrc.withheld-1"))).toEqual([true]);
  });

  it("are not shown at another place by a link to their folder", async () => {
    put("fixtures/evil/.vscode/tasks.json");
    const { movedAside = [] } = await run("ln -s fixtures/evil sub; ln -s fixtures plain; mkdir docs; ln -s docs d");
    expect(movedAside.map(({ path }) => path).toSorted()).toEqual([join(workspace, "plain"), join(workspace, "sub")]);
    expect(exists("d")).toBe(true);
  });

  it("are kept where an existing link leads, and nothing comes to be where one leads to nothing", async () => {
    put("notes.md");
    symlinkSync("notes.md", join(workspace, "AGENTS.md"));
    symlinkSync("later", join(workspace, ".vscode"));
    const { movedAside = [] } = await run("echo x > notes.md; mkdir later; echo x > later/tasks.json");
    expect(readFileSync(join(workspace, "notes.md"), "utf8")).toBe("ours\n");
    expect(movedAside.map(({ path }) => path)).toEqual([join(workspace, "later")]);
  });

  it("of two commands that run side by side are moved aside before another begins", async () => {
    const executor = createSandboxExecutor({}, { workspace });
    const long = executor.execute({ command: "echo x > AGENTS.md; touch made; while [ ! -e go ]; do sleep 0.05; done" });
    while (!existsSync(join(workspace, "made"))) await new Promise((resolve) => void setTimeout(resolve, 20));
    expect(await executor.execute({ command: "cat AGENTS.md; touch go" })).toMatchObject({
      stdout: "",
      movedAside: [{ path: join(workspace, "AGENTS.md"), to: join(workspace, "AGENTS.md.withheld-1") }],
    });
    expect(await long).not.toHaveProperty("movedAside");
  });

  it("are named in the results of pipelines and of jobs, and after a command that was aborted", async () => {
    const executor = createSandboxExecutor({}, { workspace });
    const piped = await executor.pipeline([
      { command: "sh", args: ["-c", "echo x > .npmrc"], stderrToStdout: false },
      { command: "cat", args: [], stderrToStdout: false },
    ]);
    expect(piped.movedAside?.map(({ path }) => path)).toEqual([join(workspace, ".npmrc")]);
    const { id } = await executor.jobs.start({ command: "echo x > AGENTS.md" });
    await executor.jobs.ended(id);
    expect((await executor.jobs.poll(id)).text).toContain('"AGENTS.md" is now "AGENTS.md.withheld-1"');
    const abort = new AbortController();
    const aborted = executor.execute({ command: "echo x > .envrc; touch made; sleep 60", signal: abort.signal });
    while (!existsSync(join(workspace, "made"))) await new Promise((resolve) => void setTimeout(resolve, 20));
    abort.abort();
    await expect(aborted).rejects.toThrow();
    expect((await executor.execute({ command: "true" })).movedAside?.map(({ path }) => path)).toEqual([join(workspace, ".envrc")]);
  });

  it("are named, with the way on, if a command fails because it can't change one", async () => {
    const git = "git -c user.name=a -c user.email=a@example.com";
    put("AGENTS.md");
    put("other.txt");
    execFileSync(
      "sh",
      [
        "-c",
        `git init -q -b main && git add -A && ${git} commit -qm one && git checkout -qb two && echo x > AGENTS.md && ${git} commit -qam two`,
      ],
      { cwd: workspace },
    );
    expect((await run("git checkout -q main")).stderr).toContain(
      'Sandbox: read-only for commands, because programs outside of the sandbox obey them: "AGENTS.md".',
    );
    expect((await run("echo x > /usr/new")).stderr).not.toContain("Sandbox:");
  });

  it("stay if this process itself writes them while a command runs", async () => {
    const long = run("touch made; while [ ! -e go ]; do sleep 0.05; done");
    while (!existsSync(join(workspace, "made"))) await new Promise((resolve) => void setTimeout(resolve, 20));
    const files = createDiskVfs({ root: workspace });
    for (const path of ["AGENTS.md", "sub/.vscode/tasks.json"]) await files.write(path, Buffer.from("ours\n"));
    expect(await run("touch go")).not.toHaveProperty("movedAside");
    expect(await long).not.toHaveProperty("movedAside");
    expect([exists("AGENTS.md"), exists("sub/.vscode/tasks.json")]).toEqual([true, true]);
  });

  it("that a process which was killed left are moved aside by the next command; what came later stays", async () => {
    const script = `import { createSandboxExecutor } from "keelson/environment";
      await createSandboxExecutor({}, { workspace: ${JSON.stringify(workspace)} }).execute({ command: "echo x > AGENTS.md; touch made; sleep 60" });`;
    const child = spawn(process.execPath, ["--conditions=source", "--input-type=module", "-e", script], {
      cwd: import.meta.dirname,
      stdio: ["ignore", "ignore", "inherit"],
    });
    while (!existsSync(join(workspace, "made"))) await new Promise((resolve) => void setTimeout(resolve, 20));
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("exit", resolve));
    expect(exists("AGENTS.md")).toBe(true);
    const { movedAside = [] } = await run("true");
    expect(movedAside.map(({ path }) => path)).toEqual([join(workspace, "AGENTS.md")]);
    put("CLAUDE.md");
    expect(await run("true")).not.toHaveProperty("movedAside");
    expect(exists("CLAUDE.md")).toBe(true);
  });
});

describeWithBubblewrap("repositories that a command makes, in a sandbox", () => {
  it("stay if they say nothing but what a repository says by itself", async () => {
    const git = "git -c user.name=a -c user.email=a@example.com";
    const script = `git init -q . && git remote add origin https://example.com/x.git && ${git} commit -q --allow-empty -m x &&
      git init -q sub && git init -q --bare bare.git && git worktree add -q tree && git clone -q bare.git clone 2>/dev/null; git -C tree status --short`;
    expect(await run(script)).toMatchObject({ exitCode: 0, stderr: "" });
    expect(existsSync(join(workspace, ".git/config"))).toBe(true);
    expect(await run(`${git} commit -q --allow-empty -m y && git -C tree ${git.slice(4)} commit -q --allow-empty -m z`)).toMatchObject({
      exitCode: 0,
      stderr: "",
    });
    expect((await run("git config core.fsmonitor ./evil")).exitCode).not.toBe(0);
  });

  it.each([
    ["settings that name a program", "git init -q sub; git -C sub config core.fsmonitor ./evil", "sub/.git/config"],
    ["settings on one line", "git init -q sub; echo '[core] sshCommand=./evil' > sub/.git/config", "sub/.git/config"],
    [
      "a setting that goes on",
      "git init -q sub; printf '[user]\\n name = a\\\\\\n\\n[core]\\n pager = x\\n' > sub/.git/config",
      "sub/.git/config",
    ],
    ["settings that include others", "git init -q; printf '[include]\\n path = ../x\\n' >> .git/config", ".git/config"],
    ["a hook", "git init -q sub; echo x > sub/.git/hooks/pre-commit", "sub/.git/hooks/pre-commit"],
    [
      "settings of a worktree",
      "git init -q; git commit -q --allow-empty -m x; git worktree add -q t; printf '[alias]\\n x = !y\\n' > .git/worktrees/t/config.worktree",
      ".git/worktrees/t/config.worktree",
    ],
    [
      "a repository at the root",
      "mkdir objects refs; echo 'ref: refs/heads/x' > HEAD; printf '[core]\\n bare = true\\n fsmonitor = ./evil\\n' > config",
      "config",
    ],
    [
      "hooks of a submodule that comes later",
      "git init -q; mkdir -p .git/modules/a/later/hooks; echo x > .git/modules/a/later/hooks/pre-push",
      ".git/modules/a/later/hooks/pre-push",
    ],
    [
      "a folder that borrows objects",
      "git init -q sub; mkdir x; echo 'ref: refs/heads/x' > x/HEAD; echo ../sub/.git > x/commondir",
      "x/commondir",
    ],
    [
      "a repository whose objects are a link",
      "mkdir x o; ln -s ../o x/objects; ln -s ../o x/refs; ln -s refs/heads/x x/HEAD; printf '[core]\\n hooksPath = ../h\\n' > x/config",
      "x/config",
    ],
    ["a file that names a repository elsewhere", "mkdir sub; echo 'gitdir: /usr/share/x' > sub/.git", "sub/.git"],
    [
      "a list of steps that starts a program",
      "git init -q; mkdir .git/rebase-merge; printf 'pick 1 a\\nexec ./evil\\n' > .git/rebase-merge/git-rebase-todo",
      ".git/rebase-merge/git-rebase-todo",
    ],
  ])("lose %s", async (_name, command, path) => {
    put(".gitconfig-of-test");
    const env = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; ";
    const { movedAside = [], stderr } = await run(env + command);
    expect(exists(path), stderr).toBe(false);
    expect(movedAside.map((entry) => entry.path)).toEqual([join(workspace, path)]);
  });

  it("keep a list of steps that starts no program, so that a rebase goes on in the next command", async () => {
    const todo = ".git/rebase-merge/git-rebase-todo";
    await run(`git init -q; mkdir .git/rebase-merge; printf '# a comment\\npick 12ab x\\nupdate-ref refs/heads/y\\n' > ${todo}`);
    expect(await run(`echo 'drop 12ab x' > ${todo}`)).toMatchObject({ exitCode: 0, stderr: "" });
    expect((await run(`echo 'x ./evil' >> ${todo}`)).movedAside).toHaveLength(1);
    put(todo, "exec make\n");
    expect((await run(`echo 'exec ./evil' > ${todo}`)).exitCode).not.toBe(0);
    expect(readFileSync(join(workspace, todo), "utf8")).toBe("exec make\n");
  });
});
