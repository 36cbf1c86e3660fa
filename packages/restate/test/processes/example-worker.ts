// Serves the example agents on the directory given, until it is ended by SIGTERM, upon which it closes its endpoint. With `--hold-after <n>` it says
// `holding` after its n-th turn, and goes on once its input has a line. It prints `turn <session> <records read>` after each turn,
// and `let go of <session>` where one was cut off. With `--die-after-inbox` it dies when something was written to an inbox, before it says so.
import { once } from "node:events";
import { writeSync } from "node:fs";
import { parseArgs } from "node:util";
import type { EventLog } from "@keelson/protocol";
import { createRestateOrchestrator, serveRestate } from "@keelson/restate";
import { createRunner } from "keelson";
import { errorsOnly } from "../support/errors-only.ts";
import { exampleAgents } from "../support/example-agents.ts";
import { openServices } from "../support/open-services.ts";

const { values } = parseArgs({
  options: {
    "directory": { type: "string", default: "" },
    "ingress": { type: "string", default: "" },
    "build": { type: "string", default: "one" },
    "port": { type: "string", default: "0" },
    "die-after-inbox": { type: "boolean", default: false },
    "hold-after": { type: "string" },
  },
});
const { directory, ingress, build } = values;
const say = (line: string): void => void writeSync(1, `${line}\n`);

const { log: stored, blobs, ledger } = openServices(directory);
let records = 0;
const log: EventLog = {
  async append(id, ...given) {
    const appended = await stored.append(id, ...given);
    if (values["die-after-inbox"] && id.endsWith("/inbox")) {
      process.kill(process.pid, "SIGKILL");
      await new Promise<never>(() => {});
    }
    return appended;
  },
  async *read(...given) {
    for await (const record of stored.read(...given)) {
      records++;
      yield record;
    }
  },
  head: (id) => stored.head(id),
  list: (options) => stored.list(options),
  delete: (id) => stored.delete(id),
  acquire: (id, options) => stored.acquire(id, options),
  [Symbol.asyncDispose]: () => stored[Symbol.asyncDispose](),
};
const runner = createRunner({
  agents: exampleAgents(directory, build),
  log,
  blobs,
  ledger,
  approvalKeys: { current: { id: "test", secret: new Uint8Array(32).fill(7) } },
  orchestrator: createRestateOrchestrator({ ingress }),
});
let turns = 0;
const { advance } = runner;
Object.assign(runner, {
  advance: async (...given: Parameters<typeof advance>) => {
    const before = records;
    const advanced = await advance(...given).catch((error: unknown) => {
      say(`let go of ${given[0]}`);
      throw error;
    });
    say(`turn ${given[0]} ${records - before}`);
    if (String(++turns) === values["hold-after"]) {
      say("holding");
      await once(process.stdin.resume(), "data");
      process.stdin.pause();
    }
    return advanced;
  },
});
const endpoint = await serveRestate(runner, { port: Number(values.port), logger: errorsOnly });
process.once("SIGTERM", () => void endpoint.close().then(() => process.exit(0)));
say(`serving ${endpoint.url}`);
