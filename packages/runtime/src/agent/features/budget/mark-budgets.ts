import { compareUsd, toPicoUsd, type BudgetEvent, type BudgetScope, type BudgetUnit, type Reservation, type Usd } from "@keelson/protocol";
import { runOf, type Loop } from "../../turn/loop.ts";
import { budgetMark } from "../../../session/budget-mark.ts";
import { RunEnding } from "../../turn/run-ending.ts";
import type { BudgetMeter } from "./budget-meter.ts";
import { meterOf } from "./budget-meter.ts";
import type { Step } from "../../turn/moments.ts";
import { ledgerOf } from "./run-ledger.ts";

type Refusal = Extract<Reservation, { readonly type: "refused" }>;

/** Tells of each limit of a budget how far it is used up, where a model call brought it past a threshold. */
export async function markBudgets(loop: Loop, meter: BudgetMeter): Promise<void> {
  if (meter.own.modelCalls !== undefined) mark(loop, meter, "model-calls", runOf(loop).totals.modelCalls, meter.own.modelCalls);
  for (const scope of meter.scopes) {
    const used = await ledgerOf(loop).ledger.used(scope.id);
    const name = scope.id === meter.ownScope ? undefined : scope.id;
    if (scope.maxCost !== undefined) mark(loop, meter, "cost", used.cost, scope.maxCost, name);
    if (scope.maxTokens !== undefined) mark(loop, meter, "tokens", used.tokens, scope.maxTokens, name);
    if (scope.maxTurns !== undefined) mark(loop, meter, "turns", used.turns, scope.maxTurns, name);
    if (scope.maxToolCalls !== undefined) mark(loop, meter, "tool-calls", used.toolCalls, scope.maxToolCalls, name);
    if (scope.maxModelCalls !== undefined) mark(loop, meter, "model-calls", used.modelCalls, scope.maxModelCalls, name);
  }
}

/** The same for the limits of the run alone, as a turn begins. */
export const markTurnStep: Step = {
  name: "marks of limits",
  applies: (loop, { number }) => number >= (meterOf(loop)?.firstMarkedTurn ?? Number.POSITIVE_INFINITY),
  async run(loop, { number }) {
    const meter = meterOf(loop) as BudgetMeter;
    const { own } = meter;
    const { startedAt } = runOf(loop);
    if (own.turns !== undefined) mark(loop, meter, "turns", number, own.turns);
    if (own.durationMs !== undefined)
      mark(loop, meter, "duration", Math.max(0, loop.execution.journal.state.at - startedAt), own.durationMs);
  },
};

export function markToolCalls(loop: Loop, meter: BudgetMeter): void {
  if (meter.own.toolCalls !== undefined) mark(loop, meter, "tool-calls", runOf(loop).totals.toolCalls, meter.own.toolCalls);
}

/** Once for each limit and run: what was told stands in the log. */
function mark(loop: Loop, meter: BudgetMeter, limit: BudgetEvent["limit"], used: number | Usd, max: number | Usd, scope?: string): void {
  const part = partOf(used, max);
  for (const threshold of meter.thresholds) {
    if (part < threshold) return;
    const name = budgetMark({ limit, threshold, ...(scope !== undefined && { scope }) });
    if (runOf(loop).budgetMarks?.has(name)) continue;
    // The thresholds of a raised limit are reported again, under another key.
    const key = isRaised(loop, limit) ? `budget/${name}/${String(max)}` : `budget/${name}`;
    loop.execution.put(key, "budget", { limit, used, max, threshold, ...(scope !== undefined && { scope }) });
  }
}

function isRaised(loop: Loop, limit: BudgetEvent["limit"]): boolean {
  const { maxCost, maxTokens } = runOf(loop).raisedLimits ?? {};
  return (limit === "cost" && maxCost !== undefined) || (limit === "tokens" && maxTokens !== undefined);
}

/** How far a limit is used up. Of one that allows nothing, nothing is no part. */
function partOf(used: number | Usd, max: number | Usd): number {
  const [a, b] = typeof used === "string" ? [Number(toPicoUsd(used)), Number(toPicoUsd(max as Usd))] : [used, max as number];
  return b > 0 ? a / b : a > 0 ? 1 : -1;
}

/** The limits of a budget by the units that they count. */
const LIMIT_OF: { readonly [U in BudgetUnit]: string } = {
  "cost": "maxCost",
  "tokens": "maxTokens",
  "turns": "maxTurns",
  "tool-calls": "maxToolCalls",
  "model-calls": "maxModelCalls",
};

/** Tells of a limit that let something not happen. @returns how the run ends that can't go on without it */
export function refusedByBudget(loop: Loop, key: string, refusal: Refusal): RunEnding {
  const { unit = "cost", spent, limit, scope } = refusal;
  const shared = scope !== meterOf(loop)?.ownScope && { scope };
  loop.execution.put(`${key}/budget`, "budget", {
    limit: unit,
    used: spent,
    max: limit,
    ...shared,
  });
  return new RunEnding("budget-exhausted", { limit: { name: LIMIT_OF[unit], limit, used: spent, ...shared } });
}

/** Returns a budget of which more is spent than it allows, because a call cost more than its worst case. The run's own budget is returned last. */
export async function overspentBudget(loop: Loop): Promise<Refusal | undefined> {
  let own: Refusal | undefined;
  for (const scope of ledgerOf(loop).scopes) {
    const over = overspentUnit(scope, await ledgerOf(loop).ledger.used(scope.id));
    if (over === undefined) continue;
    if (scope.id !== meterOf(loop)?.ownScope) return over;
    own = over;
  }
  return own;
}

/** Returns the error for a model whose call does not start. */
export function overspentWords(loop: Loop, { unit, limit, spent, scope }: Refusal): string {
  const over = unit === undefined ? `$${spent} is spent, the limit is $${limit}` : `${spent} ${unit} are spent, the limit is ${limit}`;
  const name = scope === meterOf(loop)?.ownScope ? "" : ` of the budget "${scope}"`;
  return `budget-exhausted: ${over}${name}. Nothing that changes anything is started any more.`;
}

function overspentUnit(
  { id: scope, maxCost, maxTokens }: BudgetScope,
  used: { readonly cost: Usd; readonly tokens: number },
): Refusal | undefined {
  if (maxCost !== undefined && compareUsd(used.cost, maxCost) > 0) return { type: "refused", scope, limit: maxCost, spent: used.cost };
  if (maxTokens !== undefined && used.tokens > maxTokens)
    return { type: "refused", scope, unit: "tokens", limit: maxTokens, spent: used.tokens };
  return undefined;
}
