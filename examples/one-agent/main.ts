// One agent file, worked in one process, from a log on disk, and turn by turn by whoever is there; on-restate.ts is the same on Restate.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = mkdtempSync(join(tmpdir(), "keelson-one-agent-"));

// #region memory
import { createRunner } from "keelson";
import { clerk } from "./clerk.ts";

const { text } = await createRunner({ agent: clerk }).run("Where is order 7?").outcome;
// #endregion
assert.equal(text, "It is on its way.");

// #region sqlite
import { createSqliteEventLog } from "keelson/state";

const log = createSqliteEventLog(join(folder, "sessions.db"));
const runner = createRunner({ agent: clerk, log });
const outcome = await runner.run("Where is order 7?", { session: "order-7" }).outcome; // after a crash: runner.recover()
// #endregion
assert.equal(outcome.text, "It is on its way.");

// #region advance
await runner.begin("order-8", "Where is order 8?");
let next = (await runner.advance("order-8")).next; // one turn, here or in any process with this log
while (next.type === "now") next = (await runner.advance("order-8")).next;
// #endregion
assert.equal(next.type === "done" && next.outcome.text, "It is on its way.");
await log[Symbol.asyncDispose]();
rmSync(folder, { recursive: true });
console.log("The same agent: in memory, in SQLite, turn by turn");
