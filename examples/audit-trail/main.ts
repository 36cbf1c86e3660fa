// Who dispatched what, and who wrote what, in an append-only log; a guard that denies, and one that responds from a cache.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mockStateStore, scriptedModel } from "keelson/testing";
import { operatorInput, OrchestratorError, type JsonObject, type LogId, type Scope } from "@keelson/protocol";
import { createAgent, createRunner } from "keelson";

const folder = mkdtempSync(join(tmpdir(), "keelson-audit-"));
const model = scriptedModel(["Rye, at 09:12.", "Ada has paid."]);
const runner = createRunner({
  agents: {
    timetable: createAgent({ name: "timetable", model, instructions: "Answer in one line." }),
    ledger: createAgent({ name: "ledger", model }),
  },
});
const store = mockStateStore();
const ask = (text: string) => operatorInput(text, "user");

// #region audit
import { createDispatchStack, createStoreStack, denyOperators, type DispatchMiddleware } from "keelson/middleware";
import { withStoreMiddleware, type DispatchObserver, type StoreObserver } from "keelson/middleware";
import { agentOperator, createLocalOrchestrator } from "keelson/orchestration";
import { createSqliteEventLog } from "keelson/state";

const log = createSqliteEventLog({ path: join(folder, "audit.db") });
const trail = "audit/2026" as LogId;
let entries = 0;
const note = (type: string, data: JsonObject) =>
  log.append(trail, "any", [{ key: `${process.pid}/${++entries}`, type, data }], { durability: "power" });

const auditDispatches: DispatchObserver = {
  name: "audit",
  async dispatch(operator, input, next) {
    const outcome = await next().then(
      ({ exitReason }) => exitReason.type,
      (error: unknown) => (OrchestratorError.is(error) ? error.failure.kind : "error"),
    );
    await note("dispatch", { operator, input: input.message as never, outcome }); // the caller waits until it is on disk
  },
};

const auditWrites: StoreObserver = {
  name: "audit",
  async write(scope, key, value, _options, next) {
    await note("write", { scope: scope as never, key, value, version: await next() });
  },
};
// #endregion

// #region cache
const cached = new Map<string, Awaited<ReturnType<DispatchMiddleware["dispatch"]>>>();
const cacheResponses: DispatchMiddleware = {
  name: "cache",
  async dispatch(operator, input, next) {
    if (operator !== "timetable") return next(); // only what changes nothing may be answered from memory
    const question = JSON.stringify([operator, input.message]);
    const output = cached.get(question) ?? (await next());
    cached.set(question, output);
    return output;
  },
};
// #endregion

// #region stacks
const orchestrator = createLocalOrchestrator({
  operators: { timetable: agentOperator(runner, "timetable"), ledger: agentOperator(runner, "ledger") },
  middleware: createDispatchStack()
    .observe(auditDispatches)
    .guard(denyOperators(["ledger"], "the books are closed"))
    .guard(cacheResponses)
    .build(),
});
const audited = withStoreMiddleware(store, createStoreStack().observe(auditWrites).build());
// #endregion

for (let times = 0; times < 2; times++) {
  const output = await orchestrator.dispatch("timetable", ask("Next train?"));
  assert.deepEqual(output.message, [{ type: "text", text: "Rye, at 09:12." }]);
}
await assert.rejects(orchestrator.dispatch("ledger", ask("Who has paid?")), /the books are closed/);
const scope: Scope = { type: "global" };
await audited.write(scope, "platform", 2);
assert.equal((await audited.read(scope, "platform"))?.value, 2);
await log[Symbol.asyncDispose]();

assert.equal(model.requests.length, 1, "the second answer came from the cache, the denied operator never ran");
const later = createSqliteEventLog({ path: join(folder, "audit.db") });
const lines: string[] = [];
// #region read
for await (const { type, data } of later.read(trail))
  lines.push(type === "dispatch" ? `${data["operator"]}: ${data["outcome"]}` : `${data["key"]} = ${data["value"]}`);
// #endregion
assert.deepEqual(lines, ["timetable: complete", "timetable: complete", "ledger: policy-denied", "platform = 2"]);
await later[Symbol.asyncDispose]();
rmSync(folder, { recursive: true });
console.log(`audit-trail: ${lines.join(", ")}`);
