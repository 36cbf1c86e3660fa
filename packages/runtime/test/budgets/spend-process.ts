// Works on its sessions in the folder given until all their runs are over. Every process on the folder shares one dollar. What
// the vendor charges is written to a file before anybody hears the response, so that it is known whoever is killed; each call is
// printed, so that a test can kill at one.
import { once } from "node:events";
import { appendFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createRunner } from "../../src/index.ts";
import { createSqliteBudgetLedger, createSqliteEventLog } from "../../src/state/index.ts";
import { randomNumbers } from "../processes/random-numbers.ts";
import { DOLLAR, spender } from "./spender.ts";

const [folder = "", name = "", seed = "", sessions = "", dearness = ""] = process.argv.slice(2);
const path = join(folder, "sessions.db");
const random = randomNumbers(Number(seed));
await using log = createSqliteEventLog({ path, pollMs: 5 });
// Who is killed loses nothing that was written; the disk's own part is not what this is about.
await using ledger = createSqliteBudgetLedger({ path, pollMs: 5, durability: "process" });
const agent = spender({
  dearness: Number(dearness),
  random,
  bill: (cost) => appendFileSync(join(folder, "bill.txt"), `${cost}\n`),
  before() {
    writeSync(1, "call\n");
    // The vendor takes its time, so that others come between.
    return new Promise((resolve) => setTimeout(resolve, 1 + 8 * random()));
  },
});
const runner = createRunner({ agent, log, ledger, budgets: [DOLLAR], durability: "process", leaseTtlMs: 3_600_000 });

async function work(session: string): Promise<string> {
  const isNew = (await log.head(`session/${session}` as never)) === 0;
  const run = isNew ? runner.run("Spend.", { session }) : await runner.resume(session);
  const { reason, error } = await run.outcome;
  return error === undefined ? reason : `${reason}: ${error.message}`;
}

writeSync(1, "ready\n");
await once(process.stdin, "data");
process.stdin.destroy();
const mine = Array.from({ length: Number(sessions) }, (_, n) => `${name}-${n}`);
for (const reason of await Promise.all(mine.map(work))) writeSync(1, `end ${reason}\n`);
