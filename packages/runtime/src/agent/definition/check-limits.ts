import type { AgentLimits } from "./limits.ts";
import { checkBudgetLimits } from "./budget/check-budgets.ts";
import { costLimit } from "./cost-limit.ts";
import { checkMembers, invalidOption, shown } from "./invalid-option.ts";

/** What is counted: the least of each. */
const COUNTS = {
  maxTurns: 1,
  maxModelCalls: 1,
  maxRetries: 0,
  maxRetryDelayMs: 0,
  maxRepairs: 0,
  maxToolCalls: 0,
  maxAnswerCalls: 1,
  maxFailedTurns: 1,
  maxParallelCalls: 1,
  maxBackground: 1,
} as const;
/** What is measured, in ms or bytes. */
const MEASURES = ["maxAnswerBytes", "maxDurationMs", "toolTimeoutMs"] as const;
/** A limit that is added needs a line here, so that no other name passes for one. */
const LIMITS: { readonly [L in keyof Required<AgentLimits>]: true } = {
  maxTurns: true,
  maxModelCalls: true,
  maxCost: true,
  maxTokens: true,
  unknownPrice: true,
  withoutUsage: true,
  budgetThresholds: true,
  maxDurationMs: true,
  maxToolCalls: true,
  maxFailedTurns: true,
  maxRetries: true,
  maxRetryDelayMs: true,
  maxRepairs: true,
  maxAnswerBytes: true,
  maxAnswerCalls: true,
  toolTimeoutMs: true,
  maxParallelCalls: true,
  maxBackground: true,
};
export const LIMIT_NAMES: readonly string[] = Object.keys(LIMITS);

/** @throws AgentError of kind `invalid-option` that names the limit */
export function checkLimits(limits: AgentLimits): void {
  checkMembers("limits", limits, LIMIT_NAMES, "{ maxTurns: 20 }");
  for (const [limit, least] of Object.entries(COUNTS) as [keyof typeof COUNTS, number][]) {
    const value: unknown = limits[limit];
    if (value !== undefined && !(Number.isSafeInteger(value) && (value as number) >= least))
      throw invalidOption(`limits.${limit}`, `must be a whole number of at least ${least}, not ${shown(value)}`);
  }
  for (const limit of MEASURES) {
    const value: unknown = limits[limit];
    if (value !== undefined && !(Number.isFinite(value) && (value as number) >= 1))
      throw invalidOption(`limits.${limit}`, `must be a number of at least 1, not ${shown(value)}`);
  }
  costLimit(limits.maxCost);
  checkBudgetLimits(limits);
}
