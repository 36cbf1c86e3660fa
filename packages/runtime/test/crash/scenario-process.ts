// Works on the scenario in the folder given until its run is over or waits. At the place given it dies or, told to wait there,
// says so and goes on once its input has a line. After each append it prints where the last record stands, so that whoever
// reads it knows what must not be lost.
import { once } from "node:events";
import { writeSync } from "node:fs";
import { parseArgs } from "node:util";
import type { RunOutcome } from "../../src/agent/definition/run.ts";
import { openDeciding } from "./deciding-scenario.ts";
import { openPlain, PLAIN_SESSIONS } from "./plain-scenario.ts";
import { createPoints } from "./points.ts";
import { openFolder } from "./scenario-folder.ts";
import { openScenario, SESSION } from "./scenario.ts";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    "scenario": { type: "string", default: "job" },
    "kill-at": { type: "string" },
    "wait-at": { type: "string" },
    "without-ledger": { type: "boolean", default: false },
  },
});
const points = createPoints((point) => {
  if (point === values["kill-at"]) {
    process.kill(process.pid, "SIGKILL");
    return new Promise<never>(() => {});
  }
  if (point !== values["wait-at"]) return undefined;
  writeSync(1, "waiting\n");
  return once(process.stdin.resume(), "data").then(() => void process.stdin.pause());
});
await using scenario = openFolder(positionals[0] ?? "", {
  points,
  open: { job: openScenario, deciding: openDeciding, plain: openPlain }[values.scenario] ?? openScenario,
  withoutLedger: values["without-ledger"],
  onAppended: (log, key, seq) => void writeSync(1, `${log} ${seq} ${key}\n`),
});

async function work(session: string): Promise<RunOutcome<unknown>> {
  const run =
    (await scenario.log.head(`session/${session}` as never)) === 0
      ? scenario.runner.run("Do the job.", { session })
      : await scenario.runner.resume(session);
  return run.outcome;
}

for (const { reason, error } of await Promise.all((values.scenario === "plain" ? PLAIN_SESSIONS : [SESSION]).map(work))) {
  writeSync(1, `end ${reason}${error === undefined ? "" : `/${error.failure.kind}`}\n`);
}
