import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sampleSize, seed } from "../../../../test/tier.ts";
import { type AgentAction, shell } from "./actions.ts";
import { agentActions } from "./arbitrary-actions.ts";
import { createHistoryWorld, type HistoryWorld } from "./history-world.ts";
import type { WorkerTask } from "./history-worker.ts";
import { differences, readTree } from "./read-tree.ts";

const WORKER = fileURLToPath(new URL("./history-worker.ts", import.meta.url));
const RUNS = sampleSize("processes that are killed while they change or undo files", { test: 3, ci: 24, soak: 500 });

/** The part of a process's work after which it is killed. */
const part = fc.double({ min: 0, max: 1, noNaN: true });

describe("the file history of a process that is killed", () => {
  it("brings a project back byte for byte after a SIGKILL in the middle of edits and commands [TC-04]", { timeout: 0 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(agentActions, { minLength: 2, maxLength: 7 }),
        part,
        fc.boolean(),
        fc.option(part),
        async (actions, at, isAtChange, again) => {
          using world = createHistoryWorld();
          const first = readTree(world.cwd);
          await (isAtChange ? killedAtChange : killed)({ ...placeOf(world), type: "act", actions }, at);
          if (again !== null) await killedAtChange({ ...placeOf(world), type: "recover" }, again);
          await world.open().recover();
          const outcome = await world.open().project().undo("s", { since: 0 });
          expect([outcome.left, differences(first, readTree(world.cwd))]).toEqual([[], []]);
          // A later process has nothing left to do.
          const after = await world.open().project().undo("s", { since: 0 });
          expect([after.steps, differences(first, readTree(world.cwd))]).toEqual([[], []]);
        },
      ),
      { numRuns: RUNS, seed, endOnFailure: true },
    );
  });

  it("finishes an undo that was killed, or has not begun it [TC-04]", { timeout: 0 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(agentActions, { minLength: 2, maxLength: 5 }), part, fc.option(part), async (actions, at, again) => {
        using world = createHistoryWorld();
        const first = readTree(world.cwd);
        await ended({ ...placeOf(world), type: "act", actions });
        const last = readTree(world.cwd);
        await killedAtChange({ ...placeOf(world), type: "undo" }, at);
        if (again !== null) await killedAtChange({ ...placeOf(world), type: "recover" }, again);
        await world.open().recover();
        const found = readTree(world.cwd);
        const [back, still] = [differences(first, found), differences(last, found)];
        expect(Math.min(back.length, still.length), [...back, "or", ...still].join("\n")).toBe(0);
        await world.open().project().undo("s", { since: 0 });
        expect(differences(first, readTree(world.cwd))).toEqual([]);
      }),
      { numRuns: RUNS, seed, endOnFailure: true },
    );
  });

  it("leaves no draft of the file that a tool was writing, and removes the folders that it had made for it [TC-04]", async () => {
    using world = createHistoryWorld();
    const first = readTree(world.cwd);
    const action: AgentAction = { type: "write", path: "new/one/two.txt", content: "half" };
    await once(start({ ...placeOf(world), type: "act", actions: [action], death: { path: "two.txt" } }), "exit");
    expect(differences(first, readTree(world.cwd))).toContainEqual(expect.stringMatching(/^new\/one\/\.keelson-.*\.tmp: expected nothing/));
    await world.open().recover();
    await world.open().project().undo("s", { since: 0 });
    expect(differences(first, readTree(world.cwd))).toEqual([]);
  });

  it("gives the index of git its bytes back where only its times differ, if it was killed before [TC-04]", async () => {
    using world = createHistoryWorld();
    shell(world.cwd, "git add -A; git commit -qm all; git status");
    const first = readTree(world.cwd);
    const line = "echo more >> a.txt; touch -d 2001-01-01 src/c.ts; git status";
    await ended({ ...placeOf(world), type: "act", actions: [{ type: "shell", line }] });
    expect(differences(first, readTree(world.cwd)).map((text) => text.split(":")[0])).toEqual([".git/index", "a.txt"]);
    await once(start({ ...placeOf(world), type: "undo", death: { path: ".git/index" } }), "exit");
    expect(differences(first, readTree(world.cwd)).map((text) => text.split(":")[0])).toContain(".git/index");
    await world.open().recover();
    expect(differences(first, readTree(world.cwd))).toEqual([]);
  });

  it("brings back the folder of a file that has taken its name, if the undo was killed before that file went [TC-04]", async () => {
    using world = createHistoryWorld();
    const first = readTree(world.cwd);
    await ended({ ...placeOf(world), type: "act", actions: [{ type: "shell", line: "rm -rf docs; echo file > docs" }] });
    const last = readTree(world.cwd);
    await once(start({ ...placeOf(world), type: "undo", death: { path: "docs" } }), "exit");
    expect(differences(last, readTree(world.cwd))).toEqual([]);
    await world.open().recover();
    expect(differences(first, readTree(world.cwd))).toEqual([]);
  });
});

function placeOf({ home, cwd }: HistoryWorld): { readonly home: string; readonly cwd: string } {
  return { home, cwd };
}

function start(task: WorkerTask): ChildProcess {
  // A group of its own: the command that it runs is killed with it.
  const child = spawn(process.execPath, ["--conditions=source", WORKER, JSON.stringify(task)], {
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  child.stdout?.resume();
  return child;
}

async function ended(task: WorkerTask): Promise<void> {
  const [code] = await once(start(task), "exit");
  expect(code).toBe(0);
}

let typicalMs = 400;

/** Kills a worker at a part of the time that the last one took. */
async function killed(task: WorkerTask, at: number): Promise<void> {
  const child = start(task);
  const exit = once(child, "exit");
  const ends = once(child.stdout as NonNullable<ChildProcess["stdout"]>, "data").then(() => performance.now());
  const begun = await Promise.race([ends, exit.then(() => performance.now())]);
  const isOver = await Promise.race([exit.then(() => true), setTimeout(at * typicalMs, false)]);
  if (isOver) typicalMs = Math.max(20, (typicalMs + performance.now() - begun) / 2);
  else {
    typicalMs *= 1.05;
    process.kill(-(child.pid as number), "SIGKILL");
  }
  await exit;
}

const typicalChanges = { act: 150, undo: 60, recover: 20 };

/** Has a worker die before one of the changes of files that it makes, each as likely as the others. */
async function killedAtChange(task: WorkerTask, at: number): Promise<void> {
  const typical = typicalChanges[task.type];
  const change = Math.floor(at * typical);
  const child = start({ ...task, death: { change } });
  let told = "";
  child.stdout?.on("data", (text: Buffer) => (told += text.toString()));
  await once(child, "exit");
  const made = /changes (\d+)/.exec(told)?.[1];
  // It follows what the workers make, so that most of them die.
  typicalChanges[task.type] = made === undefined ? typical * 1.05 : Math.max(2, (typical + Number(made)) / 2);
}
