// Two agents of one team spend one dollar together, a child on its parent's account, and somebody is told before it is gone.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scriptedModel } from "keelson/testing";

const folder = mkdtempSync(join(tmpdir(), "keelson-budget-"));
const price = { input: "0", output: "1000", asOf: "2026-01-01" };
const response = { text: "Done.", usage: { outputTokens: 60 } };
const look = { toolCalls: [{ name: "look", input: {} }], usage: { outputTokens: 60 } };
const model = scriptedModel(
  [{ toolCalls: [{ name: "researcher", input: { task: "Find out." } }], usage: { outputTokens: 60 } }, response],
  {
    price,
  },
);
const researching = scriptedModel([look, response], { price });
const greedy = scriptedModel(
  Array.from({ length: 50 }, () => look),
  { price },
);
const told: string[] = [];
const notify = (message: string): void => void told.push(message);

// #region define
import { agentTool, createAgent, createRunner, defineTool } from "keelson";
import { createSqliteEventLog } from "keelson/state";

const lookUp = defineTool({
  name: "look",
  description: "Looks things up.",
  effect: "read",
  input: { type: "object" },
  execute: () => "Nothing new.",
});
const researcher = createAgent({ name: "researcher", model: researching, tools: [lookUp], settings: { maxTokens: 100 } });
const writer = createAgent({
  name: "writer",
  model,
  tools: [agentTool(researcher)],
  settings: { maxTokens: 100 },
  limits: { maxCost: "0.50", maxTokens: 200_000 }, // of a run and of all that it starts
});
const browser = createAgent({ name: "browser", model: greedy, tools: [lookUp], loopGuard: false, settings: { maxTokens: 100 } });
// #endregion

// #region share
const log = createSqliteEventLog({ path: join(folder, "sessions.db") }); // its ledger counts for every process on the file
const runner = createRunner({
  agents: { writer, browser },
  log,
  budgets: [{ id: "team", maxCost: "1.00" }], // shared by all runs
  onLifecycleEvent(event, run) {
    if (event.type === "budget") notify(`${run.session}: ${event.limit} of ${event.scope ?? "its own"}, ${event.used} of ${event.max}`);
  },
});
// #endregion

// #region run
const wrote = await runner.run("Write about the sea.", { agent: "writer", session: "writing" }).outcome;
const browsed = await runner.run("Look around.", {
  agent: "browser",
  session: "browsing",
  budgets: [{ id: "user/ada", maxCost: "5.00", maxToolCalls: 100 }], // beside the team's
}).outcome;
const spent = await log.ledger?.spent("team");
// #endregion

// #region ask
const asking = createRunner({ agent: browser });
const limits = { maxCost: "0.20", onBudget: "ask" } as const;
const { reason } = await asking.run("Look around.", { session: "asking", limits }).outcome;
console.log(reason); // awaiting-approval
for (const { token, summary } of await asking.approvals.list()) {
  console.log(summary); // The run has used $0.12 of its limit of $0.2, …
  await asking.approve(token, { type: "allow-modified", input: { usd: "0.50" } });
}
const more = await (await asking.resume("asking")).outcome; // the same turn
// #endregion

assert.equal(reason, "awaiting-approval");
assert.equal(more.reason, "awaiting-approval");
assert.equal(more.cost, "0.66");
assert.equal(wrote.reason, "complete");
assert.equal(wrote.cost, "0.24");
assert.equal(browsed.reason, "budget-exhausted");
assert.equal(browsed.cost, "0.72");
assert.equal(spent, "0.96");
assert.ok(told.includes("browsing: cost of team, 0.54 of 1"), told.join("\n"));
await log[Symbol.asyncDispose]();
rmSync(folder, { recursive: true });
console.log(`The team spent $${spent}, and was told ${told.length} times.`);
