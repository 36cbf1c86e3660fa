import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { sampleSize } from "../../../../test/tier.ts";
import type { AgentAction } from "./actions.ts";
import { createHistoryWorld, type HistoryWorld } from "./history-world.ts";
import type { WorkerTask } from "./history-worker.ts";
import { differences, readTree } from "./read-tree.ts";

const WORKER = fileURLToPath(new URL("./history-worker.ts", import.meta.url));

/** Commands that make a file, change one and delete one, so that nothing of them is equal by chance. */
const actions: readonly AgentAction[] = [
  { type: "shell", line: "echo made > made.txt; echo more >> a.txt; rm b.txt; git pack-refs --all" },
];
const KILLS = sampleSize("last changes of files before which a process is killed", { test: 6, ci: 8, soak: 500 });

describe("the file history of a process that is killed after its command, before one of the last changes of files that it makes", () => {
  it("undoes the whole command [TC-04]", { timeout: 0 }, async () => {
    for (const death of lastOf(await changesOf({ type: "act", actions }))) {
      using world = createHistoryWorld();
      const first = readTree(world.cwd);
      await work(world, { type: "act", actions, death });
      await undoAll(world);
      expect(differences(first, readTree(world.cwd)), `before change ${death.change}`).toEqual([]);
    }
  });

  it("undoes it if the process that recovers is killed so as well [TC-04]", { timeout: 0 }, async () => {
    // The content is kept by then, and neither the record of the end nor the index is written.
    const first = { change: (await changesOf({ type: "act", actions })) - 5 };
    for (const death of lastOf(await changesOf({ type: "recover" }, { type: "act", actions, death: first }))) {
      using world = createHistoryWorld();
      const before = readTree(world.cwd);
      await work(world, { type: "act", actions, death: first });
      await work(world, { type: "recover", death });
      await undoAll(world);
      expect(differences(before, readTree(world.cwd)), `before change ${death.change} of the recovery`).toEqual([]);
    }
  });
});

/** The last of so many changes, from the last one back. */
function lastOf(changes: number): readonly { readonly change: number }[] {
  return Array.from({ length: Math.min(KILLS, changes) }, (_, index) => ({ change: changes - 1 - index }));
}

async function undoAll(world: HistoryWorld): Promise<void> {
  await world.open().recover();
  expect((await world.open().project().undo("s", { since: 0 })).left).toEqual([]);
}

/** @returns the changes of files that the last of the tasks makes */
async function changesOf(last: Task, ...before: readonly Task[]): Promise<number> {
  using world = createHistoryWorld();
  for (const task of before) await work(world, task);
  return (await work(world, last)) ?? 0;
}

type Task = WorkerTask extends infer T ? (T extends WorkerTask ? Omit<T, "home" | "cwd"> : never) : never;

/** @returns the number of changes of files that the process made; `undefined` if it was killed before its end */
async function work({ home, cwd }: HistoryWorld, task: Task): Promise<number | undefined> {
  const child = spawn(process.execPath, ["--conditions=source", WORKER, JSON.stringify({ home, cwd, ...task })], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let told = "";
  child.stdout?.on("data", (text: Buffer) => (told += text.toString()));
  await once(child, "close");
  const made = /changes (\d+)/.exec(told)?.[1];
  return made === undefined ? undefined : Number(made);
}
