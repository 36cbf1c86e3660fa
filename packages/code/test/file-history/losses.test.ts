import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createProcessExecutor, readCommandLine } from "keelson/environment";
import { expect, it } from "vitest";
import { createFileHistory, type ToolHistory } from "../../src/history/index.ts";
import { createBashTool } from "../../src/tools/bash.ts";
import { shell } from "./actions.ts";
import { createHistoryWorld, type HistoryWorld } from "./history-world.ts";

/** A project with files that are not covered: dependencies, build results, a large ignored file, and files beside the project. */
function createWorld(): HistoryWorld {
  const world = createHistoryWorld();
  shell(
    world.cwd,
    `echo node_modules/ >> .gitignore; mkdir -p node_modules/lib build sub/deep && echo 1 > node_modules/lib/a.js && echo 2 > node_modules/lib/b.o &&
    echo 3 > build/out.js && head -c 2000000 /dev/zero > ignored/big.bin && echo x > sub/x.o && mkfifo sub/pipe`,
  );
  return world;
}

/** Returns the losses of a line, as a question about it describes them. */
async function lossesOf(history: ToolHistory, world: HistoryWorld, line: string, cwd: string = world.cwd): Promise<readonly string[]> {
  const { destroys = [] } = await readCommandLine(line, { cwd, findDestroyed: true });
  return (await history.losses(destroys)).map(({ description }) => description).toSorted();
}

const around = async (history: ToolHistory, world: HistoryWorld, line: string): Promise<readonly string[]> => {
  const call = { callId: "c", runId: "r", session: "s", signal: new AbortController().signal } as never;
  const { destroys } = await readCommandLine(line, { cwd: world.cwd, findDestroyed: true });
  return (await history.around(call, async () => shell(world.cwd, line), { title: line, destroys })).notes;
};

const MODULES = "node_modules (2 files): git ignores it, and it holds dependencies; install them again";
const BUILD = "build (1 file): git ignores it, and it holds build results; build them again";
const BIG = "ignored/big.bin (1.9 MiB): git ignores it, and it has 1 MiB or more";
const PIPE = "sub/pipe (no file): it is a pipe, socket or device";

it("names what `rm -rf`, `git clean -fdx`, `find -delete` and writes would destroy beyond what undo covers, before the first snapshot and after it", async () => {
  using world = createWorld();
  const history = world.open();
  for (const [line, ...losses] of [
    ["rm -rf node_modules", MODULES],
    ["rm -rf node_modules/lib", "node_modules/lib (2 files): git ignores it, and it holds dependencies; install them again"],
    ["rm node_modules/lib/a.js", "node_modules/lib/a.js (2 bytes): git ignores it, and it holds dependencies; install them again"],
    ["rm -rf ignored build", BUILD, BIG],
    ["mv ignored/big.bin data.bin", BIG],
    ["echo x > ignored/big.bin", BIG],
    ["git clean -fdx", BUILD, BIG, MODULES, PIPE],
    ["git stash -a", BUILD, BIG, MODULES, PIPE],
    ["cd sub && git clean -fdx ..", BUILD, BIG, MODULES, PIPE],
    ["find . -name '*.o' -delete", "node_modules (1 file): git ignores it, and it holds dependencies; install them again"],
    ["find . -name '*.js' -exec rm {} +", BUILD, "node_modules (1 file): git ignores it, and it holds dependencies; install them again"],
    ["rm -rf *", BUILD, BIG, MODULES, PIPE],
    ["rm -rf .", BUILD, BIG, MODULES, PIPE],
    ['rm -rf "$X"', "which files it deletes or overwrites cannot be known by reading it"],
  ] as const) {
    expect([line, await lossesOf(history, world, line)]).toEqual([line, losses]);
    expect([line, await lossesOf(world.open(), world, line)]).toEqual([line, losses]);
  }
});

it("finds no loss in what is covered, is only made, or is not there", async () => {
  using world = createWorld();
  const history = world.open();
  for (const line of [
    ...[
      "rm -rf src docs a.txt .env notes.log",
      "rm -rf .git",
      "echo x > notes.log",
      "echo x > ignored/new.bin",
      "rm -rf nothing",
      "rm -rf empty",
    ],
    ...["git reset --hard HEAD~1", "git clean -fd", "git checkout side", "git stash -u", "git branch -D side", "rm -f .git/index.lock"],
    ...["mkdir -p node_modules/x && touch node_modules/x/y", "cp a.txt build/", "cp a.txt build/new.js", "echo x >> ignored/big.bin"],
    ...["find . -name '*.md' -delete", "find . -name '*.nothing' -exec rm {} +", "rm link", "mv docs old-docs", "rmdir node_modules"],
    ...[`echo x > ${"x".repeat(300)}`, `rm -rf ${"x/".repeat(3000)}`, "rm -rf a.txt/x"],
  ])
    expect([line, await lossesOf(history, world, line)]).toEqual([line, []]);
});

it("finds the loss of files outside of the covered folders, and none in folders that a sandbox has of its own", async () => {
  using world = createWorld();
  const history = world.open();
  const outside = join(world.cwd, "../outside");
  symlinkSync(outside, join(world.cwd, "out"));
  const told = (path: string, what: string): string => `${path} (${what}): it is outside of the folders that undo covers`;
  expect(await lossesOf(history, world, "rm -rf ../outside")).toEqual([told(outside, "1 file")]);
  expect(await lossesOf(history, world, "rm -rf out")).toEqual([]);
  expect(await lossesOf(history, world, "rm -rf out/*")).toEqual([told(join(outside, "hosts"), "8 bytes")]);
  expect(await lossesOf(history, world, "echo x > out/hosts")).toEqual([told(join(outside, "hosts"), "8 bytes")]);
  expect(await lossesOf(history, world, "echo x > out/new")).toEqual([]);
  expect(await lossesOf(history, world, "rm -rf ..")).toEqual([expect.stringMatching(/it is outside of the folders that undo covers/)]);
  expect(await lossesOf(history, world, `rm -rf ${world.home}`)).toEqual([expect.stringMatching(/it holds the sessions of Keelson/)]);
  const { destroys = [] } = await readCommandLine("rm -rf ../outside node_modules", { cwd: world.cwd, findDestroyed: true });
  expect((await history.losses(destroys, { ownFolders: [dirname(world.cwd)] })).map(({ description }) => description)).toEqual([MODULES]);
  const added = createFileHistory({ home: world.home, cwd: world.cwd, folders: [outside], durability: "process" });
  expect(await lossesOf(added, world, "rm -rf ../outside")).toEqual([]);
});

it("finds the loss of what is too large for the history, tracked or not, also by a reset and in a folder without a repository", async () => {
  using world = createHistoryWorld();
  shell(world.cwd, "head -c 300000 /dev/urandom > large.bin; git add large.bin; git commit -qm large; echo more >> large.bin");
  const history = createFileHistory({
    home: world.home,
    cwd: world.cwd,
    durability: "process",
    environment: { KEELSON_HISTORY_BYTES: "1M" },
  });
  const large = /^large\.bin \(293 KiB\): (?:it is larger than|the project has more than)/;
  for (const line of ["git reset --hard", "git checkout -- large.bin", "rm large.bin", "git rm -f large.bin", "rm -r *"])
    expect([line, await lossesOf(history, world, line)]).toEqual([line, [expect.stringMatching(large)]]);
  const plain = join(world.cwd, "../plain");
  mkdirSync(join(plain, "node_modules"), { recursive: true });
  for (const name of ["a", "b", "c", "node_modules/x"]) writeFileSync(join(plain, name), "x".repeat(120_000));
  const other = createFileHistory({ home: world.home, cwd: plain, durability: "process", environment: { KEELSON_HISTORY_BYTES: "1M" } });
  expect(await lossesOf(other, world, "rm -rf *", plain)).toEqual([
    expect.stringMatching(/^c \(117 KiB\): the project has more than 256 KiB/),
    "node_modules (1 file): git ignores it, and it holds dependencies; install them again",
  ]);
});

it("covers submodules and their git folders, and finds what in them is not covered", async () => {
  using world = createHistoryWorld();
  shell(
    world.cwd,
    "git -c protocol.file.allow=always submodule -q add ./.git module; git add -A; git commit -qm sub; mkdir module/build; echo x > module/build/x",
  );
  const history = world.open();
  expect(await lossesOf(history, world, "git submodule deinit -f module")).toEqual([
    "module/build (1 file): git ignores it, and it holds build results; build them again",
  ]);
  expect(await lossesOf(history, world, "rm -rf module/src .git/modules")).toEqual([]);
});

it("says after a command what was lost, also of files outside and in folders that are not covered, of one that failed and of one that was interrupted", async () => {
  using world = createWorld();
  const history = world.open();
  const lost = async (line: string): Promise<readonly string[]> => (await around(history, world, line)).toSorted();
  expect(await lost("rm ../outside/hosts; rm node_modules/lib/a.js; rm -rf a.txt")).toEqual([
    expect.stringMatching(/outside\/hosts was deleted and cannot be undone: it is outside of the folders that undo covers\.$/),
    "node_modules/lib/a.js was deleted and cannot be undone: git ignores it, and it holds dependencies; install them again.",
  ]);
  expect(await lost("rm -rf build")).toEqual([
    "build was deleted and cannot be undone: git ignores it, and it holds build results; build them again.",
  ]);
  expect(await lost("python3 -c 'import shutil; shutil.rmtree(\"node_modules\")'")).toEqual([
    "node_modules was deleted and cannot be undone: git ignores it, and it holds dependencies; install them again.",
  ]);
  const controller = new AbortController();
  const call = { callId: "c", runId: "r", session: "s", signal: controller.signal } as never;
  await history.around(call, async () => {
    shell(world.cwd, "rm ignored/big.bin");
    controller.abort();
  });
  expect(await lost("true")).toEqual(["ignored/big.bin was deleted and cannot be undone: git ignores it, and it has 1 MiB or more."]);
  const failing = { callId: "c", runId: "r", session: "s", signal: new AbortController().signal } as never;
  const run = history.around(failing, async () => {
    shell(world.cwd, "rm sub/pipe");
    throw new Error("failed");
  });
  await expect(run).rejects.toThrow("failed");
  expect(await lost("true")).toEqual(["sub/pipe was deleted and cannot be undone: it is a pipe, socket or device."]);
});

it("gives a command in the background its notes when it has ended", async () => {
  using world = createWorld();
  const history = world.open();
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const { promise: told, resolve: tell } = Promise.withResolvers<readonly string[]>();
  const call = { callId: "c", runId: "r", session: "s", signal: new AbortController().signal } as never;
  const { notes } = await history.around(call, async () => "job", { ended: () => gate, onEnd: tell });
  expect(notes).toEqual([]);
  shell(world.cwd, "rm -rf build");
  open();
  expect(await told).toEqual(["build was deleted and cannot be undone: git ignores it, and it holds build results; build them again."]);
});

it("tells that every file would be lost if the history cannot be kept", async () => {
  using world = createWorld();
  writeFileSync(join(world.home, "file-history"), "");
  const history = world.open();
  expect(await lossesOf(history, world, "rm a.txt")).toEqual([expect.stringMatching(/a\.txt: Changes of files are not kept for undo/)]);
  expect(await lossesOf(history, world, "rm nothing")).toEqual([]);
});

it("reports an edit of a file that is too large to be kept", async () => {
  using world = createHistoryWorld();
  shell(world.cwd, "head -c 300000 /dev/zero > large.bin");
  const problems: string[] = [];
  const history = createFileHistory({
    ...{ home: world.home, cwd: world.cwd, durability: "process", environment: { KEELSON_HISTORY_BYTES: "1M" } },
    onProblem: (message) => void problems.push(message),
  });
  const call = { callId: "c", runId: "r", session: "s", signal: new AbortController().signal } as never;
  await history.edit([{ path: "large.bin", content: Buffer.from("x") }], call, "write", async () =>
    writeFileSync(join(world.cwd, "large.bin"), "x"),
  );
  expect(problems).toEqual([expect.stringMatching(/not kept for undo: large\.bin: it is larger than/)]);
});

it("puts the losses of a command line into the effects of bash, and a sentence for what reading cannot tell", async () => {
  using world = createWorld();
  const tool = createBashTool({ exec: createProcessExecutor({ cwd: world.cwd }) });
  const context = { history: world.open() } as never;
  const effectsOf = (command: string): Promise<Record<string, unknown>> =>
    Promise.resolve(tool.effectsOf?.({ command }, { cwd: world.cwd, context })) as never;
  expect(await effectsOf("rm -rf node_modules")).toMatchObject({
    loses: [{ path: join(world.cwd, "node_modules"), description: MODULES }],
  });
  expect(await effectsOf("rm -rf node_modules")).not.toHaveProperty("mayLose");
  expect(await effectsOf("npm test")).toMatchObject({ mayLose: expect.stringContaining("cannot be brought back") });
  for (const line of ["ls", "touch a", "rm a.txt", "git commit -m x"])
    expect(await effectsOf(line)).toEqual(expect.not.objectContaining({ mayLose: expect.anything(), loses: expect.anything() }));
  expect(execFileSync("ls", [join(world.cwd, "node_modules")]).toString()).toBe("lib\n");
});
