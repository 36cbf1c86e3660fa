import { LIMITS, type AgentLimits, type LimitKind } from "./limits.ts";
import { checkBudgetLimits } from "./budget/check-budgets.ts";
import { costLimit } from "./cost-limit.ts";
import { checkMembers, invalidOption, shown } from "./invalid-option.ts";

export const LIMIT_NAMES: readonly string[] = Object.keys(LIMITS);

/** @throws AgentError of kind `invalid-option` that names the limit */
export function checkLimits(limits: AgentLimits): void {
  checkMembers("limits", limits, LIMIT_NAMES, "{ maxTurns: 20 }");
  for (const [limit, kind] of Object.entries(LIMITS) as [keyof AgentLimits, LimitKind][]) {
    const value: unknown = limits[limit];
    if (value === undefined || kind === "budget") continue;
    if (kind === "measure") {
      if (!(Number.isFinite(value) && (value as number) >= 1))
        throw invalidOption(`limits.${limit}`, `must be a number of at least 1, not ${shown(value)}`);
    } else if (!(Number.isSafeInteger(value) && (value as number) >= kind.least))
      throw invalidOption(`limits.${limit}`, `must be a whole number of at least ${kind.least}, not ${shown(value)}`);
  }
  costLimit(limits.maxCost);
  checkBudgetLimits(limits);
}
