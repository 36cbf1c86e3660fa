import { LogError } from "@keelson/protocol";
import { type Amounts, budgetAmountOf, invalidInput } from "./budget-amounts.ts";

/** A model call that takes longer is gone; who settles it later is settled all the same. */
export const PRESUME_SPENT_AFTER_MS: number = 60 * 60_000;
/** How often owners are looked after while somebody waits: nobody tells a ledger that a process died. */
export const LOOK_FOR_DEAD_EVERY_MS = 1000;
/** So many settlements are remembered, so that what is repeated counts once; older ones are forgotten, their amounts are not. */
export const REMEMBERED_SETTLEMENTS = 10_000;
/** So many retired budgets are remembered. */
export const REMEMBERED_RETIRED = 10_000;

export function noReservation(key: string): LogError {
  return new LogError({
    kind: "not-found",
    log: key,
    message: `There is no reservation "${key}" to settle: it was released, or made on another ledger. Reserve before settling.`,
  });
}

export function otherReservation(key: string): LogError {
  return invalidInput(`Reservation "${key}" is open with other scopes or another amount. Another act needs another key.`);
}

export function otherSettlement(key: string, before: Amounts, now: Amounts): LogError {
  return invalidInput(`Reservation "${key}" was settled for ${inWords(before)}; it cannot be settled for ${inWords(now)} as well.`);
}

function inWords(amounts: Amounts): string {
  const { cost, tokens, turns, toolCalls, modelCalls } = budgetAmountOf(amounts);
  const counts = { tokens, turns, "tool calls": toolCalls, "model calls": modelCalls };
  return [`$${cost}`, ...Object.entries(counts).flatMap(([unit, count]) => (count > 0 ? [`${count} ${unit}`] : []))].join(", ");
}
