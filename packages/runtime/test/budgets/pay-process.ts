// Pays the vendor at the address given, in its sessions in the folder given, until all of them are refused. Every process on the
// folder pays from one purse. Nothing of what the vendor bills is known here but what he tells.
import { once } from "node:events";
import { writeSync } from "node:fs";
import { join } from "node:path";
import { createSqliteBudgetLedger, createSqliteEventLog } from "../../src/state/index.ts";
import { payerOf, PURSE } from "./payer.ts";

const [folder = "", name = "", sessions = "", wire = "", url = "", maxCost = ""] = process.argv.slice(2);
const path = join(folder, "sessions.db");
await using log = createSqliteEventLog({ path, pollMs: 5 });
// Who is killed loses nothing that was written; the disk's own part is not what this is about.
await using ledger = createSqliteBudgetLedger({ path, pollMs: 5, durability: "process" });
const runner = payerOf(
  { url, openAiUrl: `${url}/v1` },
  { wire, name, log, ledger, budgets: [{ ...PURSE, maxCost }], durability: "process", leaseTtlMs: 3_600_000 },
);

/** A run that fails is followed by another in the same session. */
async function pay(session: string): Promise<string> {
  const isNew = (await log.head(`session/${session}` as never)) === 0;
  let run = isNew ? runner.run("Look around.", { session }) : await runner.resume(session);
  for (let tries = 0; tries < 100; tries++) {
    const { reason } = await run.outcome;
    if (reason === "budget-exhausted") return reason;
    run = runner.run("Look again.", { session });
  }
  return "it never came to an end";
}

writeSync(1, "ready\n");
await once(process.stdin, "data");
process.stdin.destroy();
for (const reason of await Promise.all(Array.from({ length: Number(sessions) }, (_, n) => pay(`${name}-${n}`))))
  writeSync(1, `end ${reason}\n`);
