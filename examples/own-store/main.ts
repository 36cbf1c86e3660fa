// A store of one's own: an event log, a blob store and a ledger over a server that keeps texts by name, made of keelson/state/kit.
import assert from "node:assert/strict";
import { scriptedModel } from "keelson/testing";
import { createKeyedBlobStore } from "./keyed-blob-store.ts";
import { createKeyedBudgetLedger } from "./keyed-budget-ledger.ts";
import { createKeyedEventLog } from "./keyed-event-log.ts";
import { KeyedServer } from "./keyed-server.ts";

const price = { input: "1", output: "10", asOf: "2026-01-01" };
const usage = { inputTokens: 100, outputTokens: 100 };
const model = scriptedModel(
  [
    { text: "Ahoy.", usage },
    { text: "Fair winds.", usage },
  ],
  { price },
);

// #region use
import { createAgent, createRunner } from "keelson";

const server = new KeyedServer();
const sailor = createAgent({ name: "sailor", model, settings: { maxTokens: 1000 } });
const runner = createRunner({
  agent: sailor,
  log: createKeyedEventLog(server),
  blobs: createKeyedBlobStore(server),
  ledger: createKeyedBudgetLedger(server),
});
const { text } = await runner.run("Hello!", { session: "voyage", budgets: [{ id: "ship", maxCost: "1" }] }).outcome;
// #endregion
assert.equal(text, "Ahoy.");

// Another process comes upon it.
const log = createKeyedEventLog(server);
const ledger = createKeyedBudgetLedger(server);
const later = createRunner({ agent: sailor, log, blobs: createKeyedBlobStore(server), ledger });
assert.equal((await later.run("Goodbye!", { session: "voyage" }).outcome).text, "Fair winds.");
assert.deepEqual(
  (await later.sessions.list()).map(({ id, turnCount }) => [id, turnCount]),
  [["voyage", 2]],
);
assert.notEqual(await ledger.spent("ship"), "0");
console.log(`2 turns, listed and counted; the ship has spent $${await ledger.spent("ship")}`);
