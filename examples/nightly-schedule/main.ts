// A report each night at half past two in Berlin, over the night in which the clock skips that time, a restart, and a night without a process.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "keelson/session";
import { scriptedModel } from "keelson/testing";

const folder = mkdtempSync(join(tmpdir(), "keelson-nightly-"));
let now = Date.parse("2026-03-27T20:00:00Z");
const clock: Clock = { now: () => now, after: () => () => {} }; // time is ours: nothing here waits for it
const written: string[] = [];

// #region setup
import { createAgent, createRunner, type Run } from "keelson";
import { createScheduler } from "keelson/orchestration";
import { createSqliteEventLog } from "keelson/state";

function openProcess() {
  const log = createSqliteEventLog({ path: join(folder, "nightly.db"), now: () => clock.now() });
  const agent = createAgent({ name: "reporter", model: scriptedModel(["All quiet.", "All quiet."]) });
  const runner = createRunner({ agent, log, clock });
  const runs: Run<unknown>[] = [];
  const scheduler = createScheduler({ runner, onRun: (run) => void runs.push(run) });
  return { log, runner, runs, scheduler };
}
// #endregion

const first = openProcess();
// #region schedule
const id = await first.scheduler.schedule({
  session: "reports",
  key: "nightly", // the same key again is the same schedule: a program may ask for it each time it starts
  action: "Write the report of the day.",
  cron: "30 2 * * *",
  timeZone: "Europe/Berlin",
});
// #endregion
await night("2026-03-28T01:30:00Z", first); // 02:30 in Berlin
await first.log[Symbol.asyncDispose]();

const second = openProcess();
await night("2026-03-29T01:00:00Z", second); // there is no 02:30 that night: 03:00
await second.log[Symbol.asyncDispose]();

// The night of the 30th has no process; the one of the 31st catches up with it.
const third = openProcess();
await night("2026-03-31T00:30:00Z", third);
// #region list
const [nightly] = await third.scheduler.list({ session: "reports" });
await third.scheduler.cancel(id);
// #endregion
assert.equal(new Date(nightly?.nextAt ?? 0).toISOString(), "2026-04-01T00:30:00.000Z");
assert.deepEqual(await third.scheduler.list(), []);
await third.log[Symbol.asyncDispose]();

assert.deepEqual(written, ["2026-03-28 01:30", "2026-03-29 01:00", "2026-03-30 00:30", "2026-03-31 00:30"]);
rmSync(folder, { recursive: true });
console.log(`nightly-schedule: ${written.length} reports, each once`);

async function night(at: string, { scheduler, runs }: ReturnType<typeof openProcess>): Promise<void> {
  now = Date.parse(at);
  // #region tick
  const { fired, nextAt } = await scheduler.tick(); // `scheduler.start()` does this by itself, when it is time
  // #endregion
  assert.ok(nextAt !== undefined && nextAt > now);
  for (const { scheduledAt } of fired) written.push(new Date(scheduledAt).toISOString().slice(0, 16).replace("T", " "));
  for (const run of runs) assert.equal((await run.outcome).reason, "complete");
}
