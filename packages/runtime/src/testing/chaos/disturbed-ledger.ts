import type { BudgetLedger } from "@keelson/protocol";
import type { Seams } from "./seams.ts";

/** A ledger as a process reaches it. */
export function disturbedLedger(seams: Seams, ledger: BudgetLedger): BudgetLedger {
  return {
    id: ledger.id,
    reserve: (key, scopes, amount, options) => seams.pass("reserve", key, () => ledger.reserve(key, scopes, amount, options)),
    settle: (key, actual) => seams.pass("settle", key, () => ledger.settle(key, actual)),
    release: (key) => seams.pass("settle", `${key}, given back`, () => ledger.release(key)),
    spent: (scope) => seams.alive(() => ledger.spent(scope)),
    used: (scope) => seams.alive(() => ledger.used(scope)),
    retire: (scope) => seams.alive(() => ledger.retire(scope)),
    // Waits for others, as who follows a log does.
    async changed(scopes, options) {
      await ledger.changed(scopes, options);
      await seams.alive(async () => {});
    },
  };
}
