import type { BudgetAmount, BudgetScope, Usd } from "@keelson/protocol";
import { ZERO_USD } from "@keelson/protocol";
import type { Loop } from "../../turn/loop.ts";
import { PartKey } from "../../turn/run-parts.ts";
import type { OwnLimits } from "../../definition/limits.ts";

/** Parts of a limit that are told when they are used up. */
export const DEFAULT_BUDGET_THRESHOLDS: readonly number[] = [0.5, 0.8, 1];

/** What is counted for a run. There is none where nothing is limited. */
export interface BudgetMeter {
  /** The budget of the run itself. */
  readonly ownScope: string;
  readonly scopes: readonly BudgetScope[];
  readonly scopeIds: readonly string[];
  /** What some budget limits; nothing else is counted. */
  readonly counts: { readonly [K in keyof BudgetAmount]-?: boolean };
  readonly own: OwnLimits;
  /** Ascending. */
  readonly thresholds: readonly number[];
  /** Whether a model call may bring a limit to a threshold. */
  readonly marksModelCalls: boolean;
  /** The first turn that may bring a limit of the run to a threshold. */
  readonly firstMarkedTurn: number;
}

const NOTHING_COUNTED: BudgetMeter["counts"] = { cost: false, tokens: false, turns: false, toolCalls: false, modelCalls: false };

export function createBudgetMeter({
  ownScope,
  scopes,
  own,
  thresholds: given,
}: {
  readonly ownScope: string;
  readonly scopes: readonly BudgetScope[];
  readonly own: OwnLimits;
  readonly thresholds?: readonly number[] | undefined;
}): BudgetMeter | undefined {
  if (scopes.length === 0 && Object.keys(own).length === 0) return undefined;
  const thresholds = given?.toSorted((a, b) => a - b) ?? DEFAULT_BUDGET_THRESHOLDS;
  return {
    ownScope,
    scopes,
    scopeIds: scopes.map(({ id }) => id),
    counts: scopes.length === 0 ? NOTHING_COUNTED : countedBy(scopes),
    own,
    thresholds,
    marksModelCalls: thresholds.length > 0 && (scopes.length > 0 || own.modelCalls !== undefined),
    firstMarkedTurn: firstMarkedTurn(own, thresholds),
  };
}

function firstMarkedTurn({ turns, durationMs }: OwnLimits, [lowest]: readonly number[]): number {
  if (lowest === undefined) return Number.POSITIVE_INFINITY;
  // Time may have run out in any turn.
  if (durationMs !== undefined) return 0;
  return turns === undefined ? Number.POSITIVE_INFINITY : Math.floor(turns * lowest);
}

/** What some of these budgets limit. */
export function countedBy(scopes: readonly BudgetScope[]): BudgetMeter["counts"] {
  return {
    cost: scopes.some(({ maxCost }) => maxCost !== undefined),
    tokens: scopes.some(({ maxTokens }) => maxTokens !== undefined),
    turns: scopes.some(({ maxTurns }) => maxTurns !== undefined),
    toolCalls: scopes.some(({ maxToolCalls }) => maxToolCalls !== undefined),
    modelCalls: scopes.some(({ maxModelCalls }) => maxModelCalls !== undefined),
  };
}

/** The part of an amount that is counted. Money alone is plain money. */
export function countedAmount({ counts }: Pick<BudgetMeter, "counts">, amount: Required<BudgetAmount>): Usd | BudgetAmount {
  if (!counts.tokens && !counts.turns && !counts.toolCalls && !counts.modelCalls) return counts.cost ? amount.cost : ZERO_USD;
  return {
    ...(counts.cost && { cost: amount.cost }),
    ...(counts.tokens && { tokens: amount.tokens }),
    ...(counts.turns && { turns: amount.turns }),
    ...(counts.toolCalls && { toolCalls: amount.toolCalls }),
    ...(counts.modelCalls && { modelCalls: amount.modelCalls }),
  };
}

const METER = new PartKey<BudgetMeter>("budget meter");

/** What is counted for a run of which something is limited. */
export function meterOf({ parts }: Loop): BudgetMeter | undefined {
  return parts.get(METER);
}

export function bindMeter({ parts }: Loop, meter: BudgetMeter | undefined): void {
  parts.set(METER, meter);
}
