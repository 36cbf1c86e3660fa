// Advances a session of the directory given by one turn, prints what comes next as JSON, and ends. With `--children-apart`, sessions
// that are to be advanced besides are printed before that. At the step given it kills itself, where no other process did before.
import { writeSync } from "node:fs";
import { parseArgs } from "node:util";
import { createDurableOrchestrator } from "keelson/orchestration";
import { createScenarioRunner } from "keelson/testing/engines";
import { openSqliteServices } from "./sqlite-services.ts";
import { steppingLog } from "./stepping-log.ts";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    "children-apart": { type: "boolean", default: false },
    "kill-at": { type: "string" },
    "kill-before": { type: "string" },
    "without-ledger": { type: "boolean", default: false },
  },
});
const [directory = "", session = ""] = positionals;
await using services = openSqliteServices(directory);
const log = steppingLog(services.log, directory, {
  ...(values["kill-at"] !== undefined && { killAt: Number(values["kill-at"]) }),
  ...(values["kill-before"] !== undefined && { killBefore: values["kill-before"] }),
  withoutLedger: values["without-ledger"],
  die() {
    process.kill(process.pid, "SIGKILL");
    return new Promise<never>(() => {});
  },
});
const say = (line: object): void => void writeSync(1, `${JSON.stringify(line)}\n`);
const orchestrator = createDurableOrchestrator({ runner: () => runner, wake: async (due) => say({ wake: due }) });
const runner = createScenarioRunner({ ...services, log, ...(values["children-apart"] && { orchestrator }) });
const { next } = await runner.advance(session);
say({ next: next.type === "done" ? { type: "done" } : next });
