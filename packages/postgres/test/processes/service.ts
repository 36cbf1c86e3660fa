// One of several services on a database, with the agents of the scenarios for engines: it takes up what nobody works on, until it is ended.
import { writeSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { createPostgres } from "@keelson/postgres";
import { createScenarioRunner } from "keelson/testing/engines";
import { forgetfulLog } from "../../../runtime/test/engines/forgetful-log.ts";

const [directory = "", connectionString = "", schema = "", flag] = process.argv.slice(2);
const LEASE_TTL_MS = 1500;
const LOOK_EVERY_MS = 50;

const { log: whole, blobs, ledger } = createPostgres({ connectionString, schema, maxConnections: 4 });
const log = flag === "--without-ledger" ? forgetfulLog(whole) : whole;
const runner = createScenarioRunner({ directory, log, blobs, ledger }, { leaseTtlMs: LEASE_TTL_MS });
writeSync(1, "at work\n");
for (;;) {
  // What it could not take up, or lost on the way, somebody takes up at the next look.
  await runner.recover({ concurrency: 8 }).catch(() => {});
  await delay(LOOK_EVERY_MS);
}
