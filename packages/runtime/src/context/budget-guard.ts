import { compareUsd, type Usd } from "@keelson/protocol";
import type { Rule } from "./rule.ts";
import { checkOptionNames } from "../json/option-names.ts";

export interface BudgetGuardOptions {
  /** Halts once the cost is above it (`budget-exhausted`). */
  readonly maxCost?: Usd | undefined;
  /** Halts once so many turns are complete (`max-turns`). Default 10. */
  readonly maxTurns?: number | undefined;
  /** Halts once more time has passed (`timeout`). */
  readonly maxDurationMs?: number | undefined;
  /** Halts once so many tools were called (`budget-exhausted`). */
  readonly maxToolCalls?: number | undefined;
}

/** A rule before every operation that stops the pipeline at a limit. */
export function budgetGuard(options: BudgetGuardOptions, priority = 100): Rule {
  checkOptionNames("budgetGuard", options, { maxCost: true, maxTurns: true, maxDurationMs: true, maxToolCalls: true });
  const { maxCost, maxTurns = 10, maxDurationMs, maxToolCalls } = options;
  return {
    name: "budget-guard",
    trigger: { type: "before-any" },
    priority,
    pure: true,
    run({ context: { metrics } }) {
      const { cost, turnsCompleted, elapsedMs, toolCallsTotal } = metrics;
      if (maxCost !== undefined && compareUsd(cost, maxCost) > 0)
        return {
          type: "halt",
          exit: "budget-exhausted",
          reason: `spent $${cost}, the limit is $${maxCost}`,
          limit: { name: "maxCost", limit: maxCost, used: cost },
        };
      if (turnsCompleted >= maxTurns)
        return {
          type: "halt",
          exit: "max-turns",
          reason: `${maxTurns} turns are complete, the limit`,
          limit: { name: "maxTurns", limit: maxTurns, used: turnsCompleted },
        };
      if (maxDurationMs !== undefined && elapsedMs > maxDurationMs)
        return {
          type: "halt",
          exit: "timeout",
          reason: `ran for ${elapsedMs} ms, the limit is ${maxDurationMs} ms`,
          limit: { name: "maxDurationMs", limit: maxDurationMs, used: elapsedMs },
        };
      if (maxToolCalls !== undefined && toolCallsTotal >= maxToolCalls)
        return {
          type: "halt",
          exit: "budget-exhausted",
          reason: `called ${maxToolCalls} tools, the limit`,
          limit: { name: "maxToolCalls", limit: maxToolCalls, used: toolCallsTotal },
        };
      return undefined;
    },
  };
}
