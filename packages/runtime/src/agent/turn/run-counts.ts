import type { BudgetAmount } from "@keelson/protocol";
import type { RunState } from "../../session/session-state.ts";

/** What a run used of what budgets count beside money and tokens, with the children that are over. */
export function countsOf(run: RunState): Pick<Required<BudgetAmount>, "turns" | "toolCalls" | "modelCalls"> {
  const { below } = run;
  return {
    turns: run.turn + (below?.turns ?? 0),
    toolCalls: run.callsRun + (below?.toolCalls ?? 0),
    modelCalls: run.totals.modelCalls + (below?.modelCalls ?? 0),
  };
}
