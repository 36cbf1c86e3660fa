// Serves the agents of the scenarios for engines on the directory given, until it is ended. Each place that a session passes on its way (an
// append, a turn), those of its children with it, has a number: at that of `--kill-at` it dies, at that of `--wait-at` it says so and
// goes on once its input has a line. With `--children-inside` its runner has no orchestrator. It prints `place <session> <n> <name>`.
import { once } from "node:events";
import { writeSync } from "node:fs";
import { parseArgs } from "node:util";
import type { EventLog, NewRecord } from "@keelson/protocol";
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
    "children-inside": { type: "boolean", default: false },
    "without-ledger": { type: "boolean", default: false },
  },
});
const { directory, ingress, name } = values;
const say = (line: string): void => void writeSync(1, `${line}\n`);

const passed = new Map<string, number>();
async function pass(session: string, place: string): Promise<void> {
  const [root = ""] = session.split("~");
  const number = passed.get(root) ?? 0;
  passed.set(root, number + 1);
  say(`place ${root} ${number} ${place}`);
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
    const [kind, session = ""] = id.split("/");
    if (kind !== "session" || id.endsWith("/inbox")) return stored.append(id, expectedSeq, records, options);
    const kept = values["without-ledger"] ? records.map(withoutReservation) : records;
    const types = records.map(({ type }) => type).join("+");
    await pass(session, `before ${types}`);
    const appended = await stored.append(id, expectedSeq, kept, options);
    await pass(session, `after ${types}`);
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
const runner = createScenarioRunner({ ...services, log, ...(!values["children-inside"] && { orchestrator }) }, { leaseTtlMs: 3_600_000 });
const { advance } = runner;
Object.assign(runner, {
  advance: async (...given: Parameters<typeof advance>) => {
    await pass(given[0], "before a turn");
    const advanced = await advance(...given);
    await pass(given[0], "after a turn");
    return advanced;
  },
});
const { url } = await serveRestate(runner, { port: Number(values.port), name, clock: scenarioClock(directory), logger: errorsOnly });
say(`serving ${url}`);

/** What calls of tools are known by after a crash: without it the scenarios must find writes that ran twice. */
function withoutReservation(record: NewRecord): NewRecord {
  return record.type === "tool-reserved" ? { ...record, type: "forgotten", key: `${record.key}/forgotten/${process.pid}` } : record;
}
