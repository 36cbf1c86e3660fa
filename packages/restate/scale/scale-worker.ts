// A worker of the simulation: advances bees for Restate, and says each second what it has done: `{ turns, ended, advancing, memoryMiB, cpuMs }`.
import { writeSync } from "node:fs";
import { parseArgs } from "node:util";
import { createRestateOrchestrator, serveRestate } from "@keelson/restate";
import { createRunner } from "keelson";
import { createSqliteEventLog } from "keelson/state";
import { errorsOnly } from "../test/support/errors-only.ts";
import { createBee } from "./bee.ts";

const { values } = parseArgs({
  options: {
    "directory": { type: "string", default: "" },
    "ingress": { type: "string", default: "" },
    "port": { type: "string", default: "0" },
    "turns": { type: "string", default: "3" },
    "delay-ms": { type: "string", default: "0" },
  },
});
const log = createSqliteEventLog(`${values.directory}/sessions.db`);
const agent = createBee({ turns: Number(values.turns), delayMs: Number(values["delay-ms"]) });
const runner = createRunner({ agent, log, orchestrator: createRestateOrchestrator({ ingress: values.ingress }) });

let [turns, ended, advancing, mostAdvancing] = [0, 0, 0, 0];
const { advance } = runner;
Object.assign(runner, {
  advance: async (...given: Parameters<typeof advance>) => {
    mostAdvancing = Math.max(mostAdvancing, ++advancing);
    try {
      const advanced = await advance(...given);
      turns++;
      if (advanced.next.type === "done") ended++;
      return advanced;
    } finally {
      advancing--;
    }
  },
});
const say = (said: object): void => void writeSync(1, `${JSON.stringify(said)}\n`);
const tell = (): void => {
  const { user, system } = process.cpuUsage();
  say({
    turns,
    ended,
    mostAdvancing,
    memoryMiB: Math.round(process.memoryUsage.rss() / 2 ** 20),
    cpuMs: Math.round((user + system) / 1000),
  });
};
const endpoint = await serveRestate(runner, { port: Number(values.port), logger: errorsOnly });
setInterval(tell, 250);
process.once("SIGTERM", () => void endpoint.close().then(() => process.exit(0)));
say({ serving: endpoint.url });
