import { LogError, type BudgetAmount, type Reservation } from "@keelson/protocol";
import { runOf, type Loop } from "../loop/loop.ts";
import { RunEnding } from "../loop/run-ending.ts";
import { countedAmount, type BudgetMeter } from "./budget-meter.ts";
import { refusedByBudget } from "./mark-budgets.ts";
import { countsOf } from "./run-counts.ts";

/**
 * Counts what needs no worst case, a turn or a call of a tool, on every budget that limits it. Repeated under one key it counts
 * once. @returns the refusal where there is none left
 */
export async function chargeBudget(
  loop: Loop,
  key: string,
  amount: BudgetAmount,
): Promise<Extract<Reservation, { type: "refused" }> | undefined> {
  const { ledger, owner, scopes, execution } = loop;
  const reservation = `${execution.runId}/${key}/counted`;
  for (;;) {
    const answer = await ledger.reserve(reservation, scopes, amount, { owner });
    if (answer.type === "refused") return answer;
    if (answer.type === "reserved") {
      await ledger.settle(reservation, amount);
      return undefined;
    }
    // Others hold one for the moment that it takes them to count it.
    await ledger.changed([answer.scope], { signal: execution.signal });
    if (execution.signal.aborted) return undefined;
  }
}

/**
 * Counts what has happened, or may have: no limit stands in its way. A ledger that knows it under this key, from the life in
 * which it was begun, does not count it again.
 */
export async function countOnBudget({ ledger, owner, scopes, execution }: Loop, key: string, amount: BudgetAmount): Promise<void> {
  const reservation = `${execution.runId}/${key}/counted`;
  const unlimited = scopes.map(({ id }) => ({ id }));
  await ledger.reserve(reservation, unlimited, amount, { owner });
  await ledger.settle(reservation, amount);
}

/** @throws RunEnding where no turn is left in a budget of the run */
export async function chargeTurn(loop: Loop, turn: string): Promise<void> {
  const refusal = await chargeBudget(loop, turn, { turns: 1 });
  if (refusal === undefined) return;
  refusedByBudget(loop, turn, refusal);
  throw new RunEnding("budget-exhausted");
}

/**
 * Tells a ledger that has forgotten this run (one in memory dies with its process) what it used before, for all of its
 * budgets. A child that is open tells its own part when it is resumed.
 */
export async function restoreBudgets(loop: Loop): Promise<void> {
  const { ledger, meter, scopes, execution } = loop;
  const run = runOf(loop);
  if (meter === undefined || scopes.length === 0 || run.ledger === ledger.id) return;
  const { turns, toolCalls, modelCalls: begun } = countsOf(run);
  // Those whose end nobody saw are settled one by one.
  let modelCalls = begun;
  for (const { type, key } of run.open.values()) if (type === "inference" && !run.open.has(`${key}/usage`)) modelCalls--;
  const { usage, cost } = run.totals;
  const tokens = (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0);
  const amount = countedAmount(meter, { cost, tokens, turns, toolCalls, modelCalls });
  // From one ledger to the next it is told once, whoever crashes in between. No limit stands in the way of what is spent.
  const key = `${execution.runId}/restored/${run.ledger ?? ""}`;
  await ledger.reserve(
    key,
    scopes.map(({ id }) => ({ id })),
    amount,
    { owner: loop.owner },
  );
  await ledger.settle(key, amount);
  // Nothing comes after the end of a run.
  if (run.status !== "ended") execution.note(`ledger/${run.resumes}`, "budget-ledger", { ledger: ledger.id });
}

/** What a run's own budget held is of no use once the run is over. */
export async function retireRunBudget({ ledger, execution }: Loop, { ownScope, scopeIds }: BudgetMeter): Promise<void> {
  if (!scopeIds.includes(ownScope)) return;
  try {
    await ledger.retire(ownScope);
  } catch (error) {
    // The run is over, whatever becomes of its traces.
    if (!LogError.is(error)) throw error;
    execution.emit({ type: "status", status: `The budget of the run was not retired: ${error.message}`, level: "warn" });
  }
}
