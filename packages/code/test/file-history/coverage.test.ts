import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createFileHistory, type ToolHistory } from "../../src/history/index.ts";
import { act, shell } from "./actions.ts";
import { createHistoryWorld, type HistoryWorld } from "./history-world.ts";
import { differences, readTree } from "./read-tree.ts";

/** Runs a line under a history. @returns the notes and changed files that it tells of */
async function around(
  history: ToolHistory,
  world: HistoryWorld,
  line: string,
): Promise<{ notes: readonly string[]; changed: readonly string[] }> {
  const call = { callId: "c", runId: "r", session: "s", signal: new AbortController().signal } as never;
  return history.around(call, async () => shell(world.cwd, line), { title: line });
}

const undoAll = (world: HistoryWorld): ReturnType<ReturnType<ToolHistory["project"]>["undo"]> =>
  world.open().project().undo("s", { since: 0 });

describe("what a file history covers", () => {
  it("brings back `git reset --hard`, `git clean -fdx` and `rm -rf`, in a linked worktree and a submodule as well", async () => {
    using world = createHistoryWorld();
    shell(
      world.cwd,
      "git worktree add -q ../tree side && git -c protocol.file.allow=always submodule -q add ./.git ../project/sub; git add -A",
    );
    const tree = join(world.cwd, "../tree");
    for (const cwd of [world.cwd, tree]) {
      const trees = [readTree(world.cwd), readTree(tree)];
      const history = createFileHistory({ home: world.home, cwd, durability: "process" });
      for (const line of [
        "echo z >> a.txt; git commit -qam z; git branch z; git reset -q --hard HEAD~1; git clean -qfdx",
        "git checkout -q --detach; git branch -D z; rm -rf *; git commit -qam gone",
      ])
        await act(history, cwd, { type: "shell", line });
      const { left } = await history.project().undo("s", { since: 0 });
      expect([left, differences(trees[0] as never, readTree(world.cwd)), differences(trees[1] as never, readTree(tree))]).toEqual([
        [],
        [],
        [],
      ]);
    }
  });

  it("covers the repository above when a session works in a folder of it", async () => {
    using world = createHistoryWorld();
    const before = readTree(world.cwd);
    const history = createFileHistory({ home: world.home, cwd: join(world.cwd, "src"), durability: "process" });
    await act(history, join(world.cwd, "src"), { type: "shell", line: "git reset -q --hard HEAD~1; git clean -qfdx .." });
    await history.project().undo("s", { since: 0 });
    expect(differences(before, readTree(world.cwd))).toEqual([]);
  });

  it("brings back commits whose objects git has deleted", async () => {
    using world = createHistoryWorld();
    const head = shell(world.cwd, "git rev-parse HEAD").trim();
    const history = world.open();
    await around(
      history,
      world,
      "git reset -q --hard HEAD~1; git branch -D side; git reflog expire --expire=now --all; git gc -q --prune=now",
    );
    expect(shell(world.cwd, `git cat-file -t ${head}`)).toBe("");
    await undoAll(world);
    expect(
      shell(world.cwd, `git rev-parse HEAD; git fsck --strict >/dev/null && echo sound; git show --stat --oneline ${head} | head -1`),
    ).toContain("sound");
  });

  it("brings back a whole repository, and removes one that a command has made", async () => {
    using world = createHistoryWorld();
    const before = readTree(world.cwd);
    await around(world.open(), world, "rm -rf .git");
    await around(world.open(), world, "git init -q && git add a.txt && git commit -qm new");
    await undoAll(world);
    expect(differences(before, readTree(world.cwd))).toEqual([]);
    expect(shell(world.cwd, "git log --oneline | wc -l").trim()).toBe("2");
  });

  it("says what it cannot bring back: dependencies, build results and large files, with the remedy, each time", async () => {
    using world = createHistoryWorld();
    shell(
      world.cwd,
      "printf 'node_modules\\nbuild\\n*.big\\n' > .gitignore; mkdir -p node_modules/x build; echo 1 > node_modules/x/i; echo 1 > build/o; head -c 2000000 /dev/zero > data.big",
    );
    const history = world.open();
    const { notes } = await around(history, world, "rm -rf node_modules build data.big a.txt");
    expect(notes.toSorted()).toEqual([
      "build was deleted and cannot be undone: git ignores it, and it holds build results; build them again.",
      "data.big was deleted and cannot be undone: git ignores it, and it has 1 MiB or more.",
      "node_modules was deleted and cannot be undone: git ignores it, and it holds dependencies; install them again.",
    ]);
    shell(world.cwd, "mkdir build; head -c 2000000 /dev/zero > data.big");
    expect((await around(history, world, "rm -rf build")).notes).toEqual([expect.stringMatching(/^build was deleted/)]);
    const { left } = await undoAll(world);
    expect(left.map(({ path, reason }) => [path.slice(world.cwd.length + 1), reason])).toEqual([["data.big", "changed"]]);
    expect(readFileSync(join(world.cwd, "a.txt"), "utf8")).toContain("alpha");
  });

  it("bounds the content that it keeps, leaves out the largest files first, and names the setting", async () => {
    using world = createHistoryWorld();
    writeFileSync(join(world.cwd, "large.txt"), "x".repeat(40_000));
    const open = (): ToolHistory =>
      createFileHistory({ home: world.home, cwd: world.cwd, durability: "process", environment: { KEELSON_HISTORY_BYTES: "120K" } });
    const { notes } = await around(open(), world, "rm -f large.txt b.txt");
    expect(notes).toEqual([
      expect.stringMatching(
        /^large\.txt was deleted and cannot be undone: it is larger than 30 KiB \(KEELSON_HISTORY_BYTES raises the limit\)\.$/,
      ),
    ]);
    await open().project().undo("s", { since: 0 });
    expect(readFileSync(join(world.cwd, "b.txt"), "utf8")).toBe("b\nmore\n");
  });

  it("drops the oldest steps when the history takes too much space, and says so", async () => {
    using world = createHistoryWorld();
    const open = (): ToolHistory =>
      createFileHistory({ home: world.home, cwd: world.cwd, durability: "process", environment: { KEELSON_HISTORY_BYTES: "400K" } });
    const notes: string[] = [];
    for (let round = 0; round < 20; round++) notes.push(...(await around(open(), world, `head -c 30000 /dev/urandom > random.bin`)).notes);
    await around(open(), world, "echo last > b.txt");
    expect(notes.join()).toMatch(
      /took more than 400 KiB: the \d+ oldest of its changes can no longer be undone\. KEELSON_HISTORY_BYTES sets the limit\./,
    );
    const { steps } = await open().project().undo("s", { since: 0 });
    expect(steps.length).toBeGreaterThan(1);
    expect(steps.length).toBeLessThan(21);
    expect(readFileSync(join(world.cwd, "b.txt"), "utf8")).toBe("b\nmore\n");
  });

  it("never takes a file that was there for one that a command made, when the command changes the ignore rules", async () => {
    using world = createHistoryWorld();
    shell(
      world.cwd,
      "printf 'build\\nnode_modules\\n' > .gitignore; mkdir -p build/deep node_modules; echo precious > build/deep/o; echo 1 > node_modules/i",
    );
    const before = readTree(world.cwd);
    await around(world.open(), world, "echo > .gitignore; echo more >> b.txt");
    await around(world.open(), world, "echo build > .gitignore");
    const { left } = await undoAll(world);
    expect([left, differences(before, readTree(world.cwd))]).toEqual([[], []]);
  });

  it("keeps tracked files in ignored folders of build results", async () => {
    using world = createHistoryWorld();
    shell(
      world.cwd,
      "mkdir dist; echo keep > dist/keep.js; git add -f dist/keep.js; git commit -qm dist; echo dist > .gitignore; echo 1 > dist/other.js",
    );
    await around(world.open(), world, "rm -rf dist");
    await undoAll(world);
    expect(readdirSync(join(world.cwd, "dist"))).toEqual(["keep.js"]);
  });

  it("works in a folder without a repository, where dependencies count as ignored", async () => {
    using world = createHistoryWorld();
    shell(world.cwd, "rm -rf .git .gitignore; mkdir -p node_modules build; echo 1 > node_modules/i; echo source > build/main.c");
    const { notes, changed } = await around(world.open(), world, "rm -rf build node_modules");
    expect(changed).toEqual(["build", "build/main.c"]);
    expect(notes).toEqual([expect.stringContaining("node_modules was deleted")]);
    await undoAll(world);
    expect(readFileSync(join(world.cwd, "build/main.c"), "utf8")).toBe("source\n");
  });

  it("keeps images of sensitive files in a store of their own, which its owner alone can read", async () => {
    using world = createHistoryWorld();
    await around(world.open(), world, "echo NEW=1 >> .env; echo x >> b.txt; chmod 644 .env");
    const [folder = ""] = readdirSync(join(world.home, "file-history"));
    const files = (store: string): readonly string[] =>
      readdirSync(join(world.home, "file-history", folder, store), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name));
    const secret = files("secret-images").map((path) => readFileSync(path, "utf8"));
    expect(secret.toSorted()).toEqual(["TOKEN=1\n", "TOKEN=1\nNEW=1\n"]);
    expect(files("images").some((path) => readFileSync(path, "utf8").includes("TOKEN"))).toBe(false);
    for (const path of [
      ...files("secret-images"),
      ...files("images"),
      ...files("sessions"),
      join(world.home, "file-history", folder, "index.json"),
    ])
      expect([path, statSync(path).mode & 0o077]).toEqual([path, 0]);
  });

  it("keeps names that are not UTF-8, and files with several names", async () => {
    using world = createHistoryWorld();
    shell(world.cwd, "printf x > $'na\\xffme'; ln b.txt other; ln -s $'na\\xffme' li");
    const inode = statSync(join(world.cwd, "b.txt")).ino;
    const list = "ls -b; cat na*; readlink li | od -c; cat other";
    const before = shell(world.cwd, list);
    await around(world.open(), world, "rm -f na* li; echo changed > other");
    await undoAll(world);
    expect(shell(world.cwd, list)).toBe(before);
    expect([statSync(join(world.cwd, "b.txt")).ino, statSync(join(world.cwd, "other")).ino]).toEqual([inode, inode]);
    await around(world.open(), world, "rm -f b.txt other");
    await undoAll(world);
    expect(statSync(join(world.cwd, "b.txt")).ino).toBe(statSync(join(world.cwd, "other")).ino);
  });

  it("never writes through a link that took the place of a folder", async () => {
    using world = createHistoryWorld();
    const outside = join(world.cwd, "../outside");
    writeFileSync(join(outside, "f.md"), "not mine");
    await around(world.open(), world, "rm -rf docs; ln -s ../outside docs");
    shell(world.cwd, "rm docs; mkdir hidden; ln -s hidden docs");
    writeFileSync(join(world.cwd, "hidden/f.md"), "mine");
    await undoAll(world);
    expect([readFileSync(join(outside, "f.md"), "utf8"), readFileSync(join(world.cwd, "hidden/f.md"), "utf8")]).toEqual([
      "not mine",
      "mine",
    ]);
  });

  it("does not mix the git state of a person with an undo: a repository goes back as a whole or not at all", async () => {
    using world = createHistoryWorld();
    await around(world.open(), world, "git add -A && git commit -qm agent; echo x > b.txt");
    shell(world.cwd, "echo own > own.txt; git add own.txt");
    const head = shell(world.cwd, "git rev-parse HEAD");
    const { left } = await undoAll(world);
    expect(shell(world.cwd, "git rev-parse HEAD")).toBe(head);
    expect(new Set(left.map(({ reason }) => reason))).toEqual(new Set(["changed", "repository"]));
    expect(readFileSync(join(world.cwd, "b.txt"), "utf8")).toBe("b\nmore\n");
  });

  it("undoes a commit although the person has looked at the state of the repository since", async () => {
    using world = createHistoryWorld();
    const before = shell(world.cwd, "git status --porcelain; git rev-parse HEAD");
    await around(world.open(), world, "git add -A && git commit -qm agent");
    shell(world.cwd, "touch *.txt; git status");
    const { left } = await undoAll(world);
    expect(left).toEqual([]);
    expect(shell(world.cwd, "git status --porcelain; git rev-parse HEAD")).toBe(before);
  });

  it("undoes two commits between which the person has looked at the repository, and counts a mere look as no step", async () => {
    using world = createHistoryWorld();
    const before = shell(world.cwd, "git status --porcelain; git rev-parse HEAD");
    const history = world.open();
    await around(history, world, "git add -A && git commit -qm one");
    shell(world.cwd, "touch *.txt; git status");
    await around(history, world, "echo more >> b.txt; git commit -qam two");
    await around(history, world, "touch *.txt; git status");
    const last = await world.open().project().undo("s", { calls: 1 });
    expect([last.steps[0]?.title, last.left]).toEqual(["echo more >> b.txt; git commit -qam two", []]);
    await world.open().project().redo("s");
    const { left } = await undoAll(world);
    expect([left, shell(world.cwd, "git status --porcelain; git rev-parse HEAD")]).toEqual([[], before]);
  });

  it("gives no change of a command that runs in another session to this one, and finds no change when nothing changed", async () => {
    using world = createHistoryWorld();
    const [one, other] = [world.open(), world.open()];
    await around(one, world, "echo 1 > one.txt");
    const call = { callId: "c", runId: "r", session: "other", signal: new AbortController().signal } as never;
    await one.around({ callId: "c", runId: "r", session: "s", signal: new AbortController().signal } as never, async () => {
      await other.edit([{ path: "b.txt", content: Buffer.from("other") }], call, "write", async () => {
        writeFileSync(join(world.cwd, "draft"), "other");
        renameSync(join(world.cwd, "draft"), join(world.cwd, "b.txt"));
      });
    });
    mkdirSync(join(world.cwd, "later"));
    expect((await around(one, world, "true")).changed).toEqual([]);
    await undoAll(world);
    expect([readFileSync(join(world.cwd, "b.txt"), "utf8"), readdirSync(world.cwd).includes("one.txt")]).toEqual(["other", false]);
  }, 20_000);
});
