import { runScopeId } from "../../definition/budget/budget-scopes.ts";
import { ownLimitsOf } from "../../definition/limits.ts";
import type { Loop } from "../../turn/loop.ts";
import { bindMeter, createBudgetMeter } from "./budget-meter.ts";
import { bindLedger, type RunLedger } from "./run-ledger.ts";

/** Binds a run to its budgets as its authority has them now: when it is opened, and when one of its own limits was raised. */
export function bindBudgets(loop: Loop, { ledger, owner }: Pick<RunLedger, "ledger" | "owner">): void {
  const { execution, limits } = loop;
  const scopes = execution.authority.budgets ?? [];
  const own = loop.agent.options.limits ?? {};
  bindLedger(loop, { ledger, scopes, owner });
  bindMeter(
    loop,
    createBudgetMeter({
      ownScope: runScopeId(execution.runId),
      scopes,
      own: ownLimitsOf(own, limits),
      thresholds: own.budgetThresholds,
    }),
  );
}
