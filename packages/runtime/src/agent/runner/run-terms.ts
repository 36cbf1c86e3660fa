import type { Authority, BudgetScope } from "@keelson/protocol";
import type { RunState } from "../../session/session-state.ts";
import type { Agent } from "../definition/agent.ts";
import { unitedBudgets } from "../definition/budget/budget-scopes.ts";
import { checkBudgets, withBudgets } from "../definition/budget/check-budgets.ts";
import { authorityOf } from "./create-loop.ts";
import { limitsOf } from "../definition/limits.ts";
import type { Limits } from "../definition/limits.ts";
import type { RunnerServices } from "../turn/runner-services.ts";

/** What a run that is taken up may do and use: what it was started with, and the budgets of the runner that goes on with it. */
export function termsOf(
  { id, terms }: RunState,
  agent: Agent<unknown>,
  services: RunnerServices,
): { readonly limits: Limits; readonly authority: Authority } {
  const unbudgeted = terms?.authority ?? authorityOf(agent, services);
  const limits = { ...limitsOf(agent.options.limits, {}, unbudgeted), ...terms?.limits };
  return { limits, authority: withBudgets(unbudgeted, { id, limits, shared: services.budgets }) };
}

/** The budgets of such a run, also where the runner does not have its agent. */
export function budgetsOf(run: RunState, agent: Agent<unknown> | undefined, services: RunnerServices): readonly BudgetScope[] {
  if (agent !== undefined) return termsOf(run, agent, services).authority.budgets ?? [];
  return unitedBudgets(run.terms?.authority.budgets, services.budgets && checkBudgets(services.budgets)) ?? [];
}
