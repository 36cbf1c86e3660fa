// A run that waits for a person, outlives the runner that began it, and goes on under the same id.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scriptedModel } from "keelson/testing";

const folder = mkdtempSync(join(tmpdir(), "keelson-durable-"));
const paid: string[] = [];
const model = scriptedModel([{ toolCalls: [{ name: "pay", input: { to: "Ada", cents: 1250 } }] }, "Paid."]);

// #region setup
import { createAgent, createRunner, defineTool } from "keelson";
import { loadApprovalKeys } from "keelson/agent";
import { createSqliteBlobStore, createSqliteEventLog } from "keelson/state";
import { z } from "zod";

const pay = defineTool({
  name: "pay",
  description: "Pays somebody.",
  effect: "write",
  risk: "high", // so the default permission mode asks
  input: z.object({ to: z.string(), cents: z.number().int().positive() }),
  execute({ to, cents }, { idempotencyKey }) {
    paid.push(`${to} ${cents} ${idempotencyKey}`); // pass the key on to whoever moves the money
    return "done";
  },
});

const agent = createAgent({ name: "treasurer", model, tools: [pay] });

async function openRunner() {
  const log = createSqliteEventLog({ path: join(folder, "sessions.db") });
  const blobs = createSqliteBlobStore({ path: join(folder, "sessions.db") });
  return { log, runner: createRunner({ agent, log, blobs, approvalKeys: await loadApprovalKeys(folder) }) };
}
// #endregion

// #region suspend
const first = await openRunner();
const run = first.runner.run("Pay Ada twelve and a half.", { session: "salaries" });
const { reason, waits } = await run.outcome; // "awaiting-approval": nobody here could answer
await first.log[Symbol.asyncDispose](); // the process may end now
// #endregion

assert.equal(reason, "awaiting-approval");
assert.equal(paid.length, 0);
const tokens: string[] = [];
// #region token
for (const wait of waits ?? []) if (wait.type === "approval") tokens.push(wait.token);
// #endregion
const [token = ""] = tokens;

// #region resume
const second = await openRunner(); // later, elsewhere
await second.runner.approve(token, { type: "allow", by: "grace" });
const resumed = await second.runner.resume("salaries");
const outcome = await resumed.outcome;
// #endregion

assert.equal(resumed.id, run.id);
assert.equal(outcome.reason, "complete");
assert.equal(outcome.text, "Paid.");
assert.equal(paid.length, 1);
await assert.rejects(second.runner.approve(token, { type: "allow" }), /used already/);
await second.log[Symbol.asyncDispose]();
rmSync(folder, { recursive: true });
console.log(`durable-run: ${paid[0]?.split(" ").slice(0, 2).join(" ")}, once`);
