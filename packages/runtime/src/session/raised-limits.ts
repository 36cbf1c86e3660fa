import type { Authority } from "@keelson/protocol";
import type { RaisedLimits } from "./record-data.ts";

/** Returns the authority of a run with its own budget as it was raised. No other budget changes, and no limit is added. */
export function withRaisedLimits(authority: Authority, { scope, maxCost, maxTokens }: RaisedLimits): Authority {
  const budgets = authority.budgets?.map((budget) =>
    budget.id === scope
      ? {
          ...budget,
          ...(budget.maxCost !== undefined && maxCost !== undefined && { maxCost }),
          ...(budget.maxTokens !== undefined && maxTokens !== undefined && { maxTokens }),
        }
      : budget,
  );
  return budgets === undefined ? authority : { ...authority, budgets };
}
