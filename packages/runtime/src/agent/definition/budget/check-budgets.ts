import { AgentError, type Authority, type BudgetScope, type RunId } from "@keelson/protocol";
import type { AgentLimits } from "../limits.ts";
import { costLimit } from "../cost-limit.ts";
import type { Limits } from "../limits.ts";
import { narrowAuthority } from "../permissions/narrow-authority.ts";
import type { Budget } from "../run.ts";
import { runScope } from "./budget-scopes.ts";
import { definedOptions } from "../../../json/defined-options.ts";

const COUNTS = ["maxTokens", "maxTurns", "maxToolCalls", "maxModelCalls"] as const;

/** @throws AgentError of kind `invalid-option`, which names the budget and what is wrong with it */
export function checkBudgets(budgets: readonly Budget[]): readonly BudgetScope[] {
  if (!Array.isArray(budgets)) throw invalid("budgets", "budgets must be a list of { id, maxCost?, maxTokens?, … }");
  return budgets.map((budget: Budget, index) => {
    const at = `budgets[${index}]`;
    const { id, maxCost, unknownPrice, withoutUsage, ...counts } = budget;
    if (typeof id !== "string" || id === "")
      throw invalid(`${at}.id`, `${at}.id must be a text that names the budget, not ${JSON.stringify(id)}`);
    if (id.startsWith("run/")) throw invalid(`${at}.id`, `${at}.id must not begin with "run/": such are the budgets of runs`);
    for (const count of COUNTS) checkCount(counts[count], `${at}.${count}`);
    checkUnknownPrice(unknownPrice, `${at}.unknownPrice`);
    checkWithoutUsage(withoutUsage, `${at}.withoutUsage`);
    const cost = costLimit(maxCost, `${at}.maxCost`);
    return {
      id,
      ...(cost !== undefined && { maxCost: cost }),
      ...definedOptions(counts),
      ...(unknownPrice && { unknownPrice }),
      ...(withoutUsage && { withoutUsage }),
    };
  });
}

/** @throws AgentError of kind `invalid-option` */
export function checkBudgetLimits({ maxTokens, unknownPrice, withoutUsage, onBudget, budgetThresholds }: AgentLimits): void {
  checkCount(maxTokens, "limits.maxTokens");
  checkUnknownPrice(unknownPrice, "limits.unknownPrice");
  checkWithoutUsage(withoutUsage, "limits.withoutUsage");
  if (onBudget !== undefined && onBudget !== "ask" && onBudget !== "end")
    throw invalid("limits.onBudget", `limits.onBudget must be "ask" or "end", not ${JSON.stringify(onBudget)}`);
  if (budgetThresholds === undefined) return;
  if (!Array.isArray(budgetThresholds) || !budgetThresholds.every((part) => typeof part === "number" && part > 0 && part <= 1))
    throw invalid(
      "limits.budgetThresholds",
      `limits.budgetThresholds must be parts of the limits above 0, up to 1, such as [0.5, 0.9], not ${JSON.stringify(budgetThresholds)}`,
    );
}

/** The authority of a run that counts against its own budget, against those shared by its runner, and against those it is given. */
export function withBudgets(
  authority: Authority,
  {
    id,
    limits,
    shared,
    given,
  }: {
    readonly id: RunId | string;
    readonly limits: Limits;
    readonly shared?: readonly Budget[] | undefined;
    readonly given?: readonly Budget[] | undefined;
  },
): Authority {
  const own = runScope(id, limits);
  if (own === undefined && shared === undefined && given === undefined) return authority;
  const budgets = [...(own ?? []), ...(shared ? checkBudgets(shared) : []), ...(given ? checkBudgets(given) : [])];
  return budgets.length === 0 ? authority : narrowAuthority(authority, { budgets });
}

function checkCount(count: unknown, option: string): void {
  if (count !== undefined && !(Number.isSafeInteger(count) && (count as number) >= 0))
    throw invalid(option, `${option} must be a whole number from 0, not ${JSON.stringify(count)}`);
}

function checkUnknownPrice(choice: unknown, option: string): void {
  if (choice !== undefined && choice !== "refuse" && choice !== "allow")
    throw invalid(option, `${option} must be "refuse" or "allow", not ${JSON.stringify(choice)}`);
}

function checkWithoutUsage(choice: unknown, option: string): void {
  if (choice !== undefined && choice !== "reserve" && choice !== "estimate")
    throw invalid(option, `${option} must be "reserve" or "estimate", not ${JSON.stringify(choice)}`);
}

function invalid(option: string, message: string): AgentError {
  return new AgentError({ kind: "invalid-option", option, message: `${message}.` });
}
