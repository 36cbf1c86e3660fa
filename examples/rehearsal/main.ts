// A build that is looked at before it is deployed: which of the runs that are open it could go on with, and which not.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scriptedModel } from "keelson/testing";

const folder = await mkdtemp(join(tmpdir(), "keelson-rehearsal-"));
process.chdir(folder);

const model = scriptedModel([{ toolCalls: [{ name: "refund", input: { order: "1024", cents: 500 } }] }, "Refunded."]);

// #region rehearse
import { type Agent, createAgent, createRunner, defineTool } from "keelson";
import { createSqliteEventLog } from "keelson/state";
import { z } from "zod";

const log = createSqliteEventLog("sessions.db");
const desk = (input: z.ZodType): Agent =>
  createAgent({
    name: "refund-desk",
    model,
    tools: [defineTool({ name: "refund", description: "Refunds an order.", input, execute: () => "refunded" })],
    permissions: { rules: [{ pattern: "refund", behavior: "ask" }] },
  });

// The build that is running: a refund waits for somebody's word.
const running = createRunner({ agent: desk(z.object({ order: z.string(), cents: z.number() })), log });
await running.run("Refund order 1024.", { session: "order-1024" }).outcome;

// The build that is to be deployed wants a reason for each refund.
const next = createRunner({ agent: desk(z.object({ order: z.string(), cents: z.number(), reason: z.string() })), log });
const rehearsal = next.rehearse();
for await (const { session, verdict, reason, action } of rehearsal) console.log(`${session} ${verdict}: ${reason} ${action ?? ""}`);
if (!rehearsal.isSafe) process.exitCode = 1; // not this one
// #endregion

assert.equal(process.exitCode, 1);
process.exitCode = 0;
assert.equal(rehearsal.totals.asks, 1);

// #region same
const again = running.rehearse();
for await (const { session, verdict } of again) console.log(`${session} ${verdict}`); // order-1024 waits
// #endregion

assert.deepEqual([again.totals.waits, again.isSafe], [1, true]);
await log[Symbol.asyncDispose]();
process.chdir(tmpdir());
await rm(folder, { recursive: true });
