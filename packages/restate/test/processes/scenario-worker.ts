// Serves the agents of the scenarios for engines on the directory given, until it is ended. Each place that it passes on its way (an append, a turn) has a
// number; at that of `--kill-at` it dies, at that of `--wait-at` it says so and goes on once its input has a line. It prints `place <n> <name>`.
import { once } from "node:events";
import { writeSync } from "node:fs";
import { parseArgs } from "node:util";
import type { EventLog } from "@keelson/protocol";
import { createScenarioRunner, scenarioClock } from "keelson/testing/engines";
import { createRestateOrchestrator, serveRestate } from "@keelson/restate";
import { errorsOnly } from "../support/errors-only.ts";
import { openServices } from "../support/open-services.ts";

const { values } = parseArgs({
  options: {
    "directory": { type: "string", default: "" },
    "ingress": { type: "string", default: "" },
    "name": { type: "string", default: "keelson" },
    "port": { type: "string", default: "0" },
    "kill-at": { type: "string" },
    "wait-at": { type: "string" },
    "without-ledger": { type: "boolean", default: false },
  },
});
const { directory, ingress, name } = values;
const say = (line: string): void => void writeSync(1, `${line}\n`);

let passed = 0;
async function pass(place: string): Promise<void> {
  const number = passed++;
  say(`place ${number} ${place}`);
  if (String(number) === values["kill-at"]) {
    process.kill(process.pid, "SIGKILL");
    await new Promise<never>(() => {});
  }
  if (String(number) !== values["wait-at"]) return;
  say(`waiting at ${place}`);
  await once(process.stdin.resume(), "data");
  process.stdin.pause();
}

const services = openServices(directory);
const { log: stored } = services;
const log: EventLog = {
  append: async (id, expectedSeq, records, options) => {
    const isOfSession = id.startsWith("session/");
    // Without their reservations, calls of tools are not known after a crash: for the test that the suite would notice.
    const kept = values["without-ledger"]
      ? records.map((record) => (record.type === "tool-reserved" ? { ...record, type: "forgotten" } : record))
      : records;
    if (isOfSession) await pass(`before ${records.map(({ type }) => type).join("+")}`);
    const appended = await stored.append(id, expectedSeq, kept, options);
    if (isOfSession) await pass(`after ${records.map(({ type }) => type).join("+")}`);
    return appended;
  },
  read: (id, options) => stored.read(id, options),
  head: (id) => stored.head(id),
  list: (options) => stored.list(options),
  delete: (id) => stored.delete(id),
  acquire: (id, options) => stored.acquire(id, options),
  [Symbol.asyncDispose]: () => stored[Symbol.asyncDispose](),
};
const orchestrator = createRestateOrchestrator({ ingress, name });
const runner = createScenarioRunner({ ...services, log, orchestrator }, { leaseTtlMs: 3_600_000 });
const { advance } = runner;
Object.assign(runner, {
  advance: async (...given: Parameters<typeof advance>) => {
    await pass("before a turn");
    const advanced = await advance(...given);
    await pass("after a turn");
    return advanced;
  },
});
const { url } = await serveRestate(runner, { port: Number(values.port), name, clock: scenarioClock(directory), logger: errorsOnly });
say(`serving ${url}`);
