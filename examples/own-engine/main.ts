// An engine of one's own: two workers advance what is due in a table; one of them is killed, another comes in its place, and nothing is sent twice.
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { createClerk, sentArticles } from "./clerk.ts";
import { openEngine } from "./open-engine.ts";

const folder = mkdtempSync(join(tmpdir(), "keelson-engine-"));
const book = join(folder, "sent.txt");
const script = fileURLToPath(new URL("worker.ts", import.meta.url));
/** A worker that is told to end before it can hear it dies of the signal, so each says when it listens. */
async function startWorker(name: string): Promise<ChildProcess> {
  const worker = spawn(process.execPath, [...process.execArgv, script, folder, name], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  await once(worker, "message");
  return worker;
}

// #region use
import { operatorInput } from "keelson/orchestration";

const { orchestrator } = openEngine(folder, createClerk(book));
const orders = await Promise.all(["a", "b", "c", "d"].map((order) => orchestrator.start("clerk", operatorInput(`Order ${order}`, "user"))));
// #endregion

const [first, second] = await Promise.all([startWorker("first"), startWorker("second")]);
while (sentArticles(book).length < 3) await sleep(5);
first.kill("SIGKILL");
const third = await startWorker("third");

// #region attach
const outputs = await Promise.all(orders.map((order) => orchestrator.attach(order))); // whoever works them
// #endregion

for (const { exitReason, message } of outputs) {
  assert.deepEqual(exitReason, { type: "complete" });
  assert.deepEqual(message, [{ type: "text", text: "All three are sent." }]);
}
const keys = sentArticles(book).map((line) => line.split(" ")[0]);
assert.equal(keys.length, 12);
assert.equal(new Set(keys).size, 12);
for (const worker of [second, third]) worker.kill("SIGTERM");
const codes = await Promise.all([second, third].map(async (worker) => (await once(worker, "exit"))[0] as number));
assert.deepEqual(codes, [0, 0]);
rmSync(folder, { recursive: true });
console.log("4 orders, 12 articles, each sent once, though a worker was killed");
