import { LogError, type BudgetAmount, type Reservation } from "@keelson/protocol";
import type { Loop } from "../../turn/loop.ts";
import { meterOf, type BudgetMeter } from "./budget-meter.ts";
import { refusedByBudget } from "./mark-budgets.ts";
import { countKey, spendOnLedger } from "./spend-on-ledger.ts";
import type { Step } from "../../turn/moments.ts";
import { ledgerOf } from "./run-ledger.ts";

/**
 * Counts what needs no worst case, a turn or a call of a tool, on every budget that limits it. Repeated under one key it counts
 * once. @returns the refusal where there is none left
 */
export async function chargeBudget(
  loop: Loop,
  key: string,
  amount: BudgetAmount,
): Promise<Extract<Reservation, { type: "refused" }> | undefined> {
  const { execution } = loop;
  const { ledger, owner, scopes } = ledgerOf(loop);
  const reservation = countKey(`${execution.runId}/${key}`);
  for (;;) {
    const reserved = await ledger.reserve(reservation, scopes, amount, { owner });
    if (reserved.type === "refused") return reserved;
    if (reserved.type === "reserved") {
      await ledger.settle(reservation, amount);
      return undefined;
    }
    // Others hold one for the moment that it takes them to count it.
    await ledger.changed([reserved.scope], { signal: execution.signal });
    if (execution.signal.aborted) return undefined;
  }
}

/**
 * Counts what has happened, or may have: no limit stands in its way. A ledger that knows it under this key, from the life in
 * which it was begun, does not count it again.
 */
export async function countOnBudget(loop: Loop, key: string, amount: BudgetAmount): Promise<void> {
  await spendOnLedger(ledgerOf(loop), countKey(`${loop.execution.runId}/${key}`), amount);
}

/** Counts the turn; ends the run where none is left in one of its budgets. */
export const chargeTurnStep: Step = {
  name: "budget of turns",
  applies: (loop) => meterOf(loop)?.counts.turns === true,
  async run(loop, { turn }) {
    const refusal = await chargeBudget(loop, turn, { turns: 1 });
    if (refusal !== undefined) throw refusedByBudget(loop, turn, refusal);
  },
};

/** What a run's own budget held is of no use once the run is over. */
export async function retireRunBudget(loop: Loop, { ownScope, scopeIds }: BudgetMeter): Promise<void> {
  if (!scopeIds.includes(ownScope)) return;
  try {
    await ledgerOf(loop).ledger.retire(ownScope);
  } catch (error) {
    // The run is over, whatever becomes of its traces.
    if (!LogError.is(error)) throw error;
    loop.execution.emit({ type: "status", status: `The budget of the run was not retired: ${error.message}`, level: "warn" });
  }
}
