// Two services on one database: a session that one began and the other goes on with, a question that one asks and the other answers, a
// budget that both count against, and the deletion of what is old. Needs a server: packages/postgres/server/install.sh, or DATABASE_URL.
import assert from "node:assert/strict";
import { createAgent, createRunner, defineTool } from "keelson";
import { scriptedModel } from "keelson/testing";
import { startPostgresServer } from "../../packages/postgres/test/support/postgres-server.ts";
import { isWithoutServer } from "../../packages/postgres/test/support/server-binaries.ts";

if (process.env["DATABASE_URL"] === undefined && isWithoutServer) {
  console.log("skipped: there is no PostgreSQL here. Run packages/postgres/server/install.sh, or set DATABASE_URL.");
  process.exit(0);
}
const server = process.env["DATABASE_URL"] === undefined ? await startPostgresServer() : undefined;
const databaseUrl = process.env["DATABASE_URL"] ?? server?.connectionString() ?? "";

const price = { input: "1", output: "10", asOf: "2026-01-01" };
const usage = { inputTokens: 100, outputTokens: 100 };
const paid: string[] = [];
const pay = defineTool({
  name: "pay",
  description: "Pays an invoice.",
  effect: "write",
  input: { type: "object" },
  execute: () => paid.push("invoice 7") && "paid",
});
const clerk = createAgent({
  name: "clerk",
  model: scriptedModel(
    [
      { toolCalls: [{ name: "pay", input: {} }], usage },
      { text: "Paid.", usage },
    ],
    { price },
  ),
  tools: [pay],
  settings: { maxTokens: 1000 },
  permissions: { rules: [{ pattern: "pay", behavior: "ask" }] },
});
const approvalKeys = { current: { id: "2026-11", secret: new Uint8Array(32).fill(7) } };

// #region use
import { createPostgres } from "@keelson/postgres";

const stores = createPostgres({ connectionString: databaseUrl });
await stores.ready(); // creates or updates the schema `keelson`; without it the first call does
const runner = createRunner({ agent: clerk, log: stores.log, blobs: stores.blobs, ledger: stores.ledger, approvalKeys });
// #endregion

// Another service.
const elsewhere = createPostgres({ connectionString: databaseUrl });
const { log, blobs, ledger } = elsewhere;
const other = createRunner({ agent: clerk, log, blobs, ledger, approvalKeys });

const asked = await runner.run("Pay invoice 7.", { session: "wages", budgets: [{ id: "team", maxCost: "1" }] }).outcome;
assert.equal(asked.reason, "awaiting-approval");
const [question] = await other.approvals.list();
await other.approve(question?.token ?? "", { type: "allow" });
const run = await other.resume("wages");
const { reason, text } = await run.outcome;
assert.deepEqual([reason, text, paid], ["complete", "Paid.", ["invoice 7"]]);
assert.equal(await stores.ledger.spent("team"), await ledger.spent("team"));

// #region retention
const { deleted, spared } = await runner.sessions.retain({ maxAgeMs: 90 * 86_400_000 });
// #endregion
assert.deepEqual([deleted, spared], [[], []]);
assert.deepEqual(
  (await other.sessions.retain({ maxBytes: 0 })).deleted.map(({ session }) => session),
  ["wages"],
);
assert.deepEqual(await runner.sessions.list(), []);

// #region close
await stores.close(); // gives leases back, and ends its connections
// #endregion
await elsewhere.close();
await server?.[Symbol.asyncDispose]();
console.log("two services, one session, one question, one payment, one budget");
