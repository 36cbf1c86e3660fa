// Agents among faults: each is run once for every fault at every step, and the report says what was lost or done twice.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ToolEffect } from "keelson";
import { mockStateStore } from "keelson/testing";

// #region scene
import { createAgent, defineTool } from "keelson";
import { chaos, scriptedModel } from "keelson/testing";
import { z } from "zod";

/** The agent, what it is asked, and the world that it works on: all of it new for each run. */
function treasury(effect: ToolEffect = "write") {
  const paid: string[] = [];
  const pay = defineTool({
    name: "pay",
    description: "Pays somebody.",
    effect,
    risk: "high", // so somebody is asked: the kit allows it
    input: z.object({ to: z.string(), cents: z.number().int().positive() }),
    execute({ to, cents }) {
      paid.push(`${to} ${cents}`);
      return "done";
    },
  });
  const model = scriptedModel([{ toolCalls: [{ name: "pay", input: { to: "Ada", cents: 1250 } }] }, "Paid."]);
  return { agent: createAgent({ name: "treasurer", model, tools: [pay] }), input: "Pay Ada twelve and a half.", world: () => paid };
}

const report = await chaos(() => treasury());
console.log(String(report));
assert.deepEqual(report.failures, []);
// #endregion

// #region engine
const turnByTurn = await chaos(() => treasury(), { engine: "advance", pairs: 20, seed: 7 });
// #endregion
assert.deepEqual(turnByTurn.failures, [], String(turnByTurn));

// #region found
// It pays again when it is called again under the same key, and says that it does not.
const careless = await chaos(() => treasury("idempotent"));
const [failure] = careless.failures;
console.log(failure?.name, failure?.step, failure?.problems); // the world is ["Ada 1250","Ada 1250"] after it, …
const again = await chaos(() => treasury("idempotent"), { only: failure?.name });
// #endregion
assert.ok(careless.failures.some(({ name }) => name === "crash after tool#1"));
assert.deepEqual(again.failures, [failure]);

const folder = mkdtempSync(join(tmpdir(), "keelson-chaos-"));
let runs = 0;
// #region stores
import { createSqliteEventLog } from "keelson/state";

const onDisk = await chaos(
  () => ({
    ...treasury(),
    stores: ({ now }) => ({ log: createSqliteEventLog({ path: join(folder, `${runs++}.db`), now }) }),
  }),
  { maxRuns: 40 },
);
// #endregion
rmSync(folder, { recursive: true });
assert.deepEqual(onDisk.failures, [], String(onDisk));

// #region effects
import { defineEffectTool } from "keelson/agent";
import { createLocalEffectExecutor } from "keelson/orchestration";

function orderDesk() {
  const store = mockStateStore();
  const order = defineEffectTool({
    name: "order",
    description: "Order an item.",
    input: z.object({ item: z.string(), pieces: z.number().int().min(1) }),
    effect: ({ item, pieces }) => ({ type: "write-memory", scope: { type: "global" }, key: `orders/${item}`, value: { pieces } }),
  });
  const model = scriptedModel([{ toolCalls: [{ name: "order", input: { item: "tea", pieces: 3 } }] }, "Three teas are on their way."]);
  return {
    agent: createAgent({ name: "desk", model, tools: [order] }),
    services: { effects: createLocalEffectExecutor({ store }) },
    input: "Three teas, please.",
    world: async () => (await store.read({ type: "global" }, "orders/tea"))?.value,
  };
}

const desk = await chaos(orderDesk);
// #endregion
assert.deepEqual(desk.failures, [], String(desk));
assert.ok(desk.steps.some(({ seam }) => seam === "effect"));

// #region alone
import { createRunner } from "keelson";
import { createDisturbance } from "keelson/testing";
import { createMemoryEventLog } from "keelson/state";

const log = createMemoryEventLog();
const { agent } = treasury("read");
const disturbance = createDisturbance({ plan: "lost acknowledgement of append#2" });
const runner = createRunner({ agent: disturbance.agent(agent), log: disturbance.log(log) });
const { error } = await runner.run("Pay Ada.", { session: "alone" }).outcome;
// #endregion
assert.equal(error?.failure.kind, "backend");

console.log(`chaos: ${report.runs + turnByTurn.runs + onDisk.runs + desk.runs} runs, nothing lost, nothing done twice`);
