// Starts the scenario's run, or goes on with it, in the folder given, until it is over or waits; dies at the place given. After each
// append it prints where the last record stands, so that whoever reads it knows what must not be lost.
import { writeSync } from "node:fs";
import { openFolder } from "./scenario-folder.ts";
import { createPoints } from "./points.ts";
import { SESSION } from "./scenario.ts";

const [folder = "", place = "", option = ""] = process.argv.slice(2);
const points = createPoints((point) => {
  if (point !== place) return undefined;
  process.kill(process.pid, "SIGKILL");
  return new Promise<never>(() => {});
});
await using world = openFolder(folder, {
  points,
  onAppended: (log, key, seq) => void writeSync(1, `${log} ${seq} ${key}\n`),
  ...(option === "without-ledger" && { withoutLedger: true }),
});
const run = (await world.log.head(`session/${SESSION}` as never)) === 0 ? world.runner.run("Do the job.", { session: SESSION }) : await world.runner.resume(SESSION);
const { reason } = await run.outcome;
writeSync(1, `end ${reason}\n`);
