import { compareUsd, type BudgetScope, type RunId, type Usd } from "@keelson/protocol";

/** The budget of one run and of all that it starts. */
export function runScopeId(id: RunId | string): string {
  return `run/${id}`;
}

/** A run's own budget, where it has limits that its children share. */
export function runScope(
  id: RunId | string,
  {
    maxCost,
    maxTokens,
    unknownPrice,
    withoutUsage,
  }: { readonly [K in "maxCost" | "maxTokens" | "unknownPrice" | "withoutUsage"]?: BudgetScope[K] | undefined },
): readonly BudgetScope[] | undefined {
  if (maxCost === undefined && maxTokens === undefined) return undefined;
  return [
    {
      id: runScopeId(id),
      ...(maxCost !== undefined && { maxCost, ...(unknownPrice === "allow" && { unknownPrice }) }),
      ...(maxTokens !== undefined && { maxTokens }),
      ...(withoutUsage === "estimate" && { withoutUsage }),
    },
  ];
}

/** All of them, each once: one that is named several times has the lowest of its limits. */
export function unitedBudgets(...lists: readonly (readonly BudgetScope[] | undefined)[]): readonly BudgetScope[] | undefined {
  let united: Map<string, BudgetScope> | undefined;
  for (const list of lists) {
    for (const scope of list ?? []) {
      const known = (united ??= new Map()).get(scope.id);
      united.set(scope.id, known === undefined ? tighter(scope, scope) : tighter(known, scope));
    }
  }
  return united && [...united.values()];
}

function tighter(a: BudgetScope, b: BudgetScope): BudgetScope {
  const maxCost = lowerCost(a.maxCost, b.maxCost);
  // Whoever set the limit chose: one that refuses stays strict, whatever the other says.
  const allows = maxCost !== undefined && [a, b].every((scope) => scope.maxCost === undefined || scope.unknownPrice === "allow");
  const maxTokens = lower(a.maxTokens, b.maxTokens);
  const estimates =
    (maxCost !== undefined || maxTokens !== undefined) &&
    [a, b].every((scope) => (scope.maxCost === undefined && scope.maxTokens === undefined) || scope.withoutUsage === "estimate");
  const maxTurns = lower(a.maxTurns, b.maxTurns);
  const maxToolCalls = lower(a.maxToolCalls, b.maxToolCalls);
  const maxModelCalls = lower(a.maxModelCalls, b.maxModelCalls);
  return {
    id: a.id,
    ...(maxCost !== undefined && { maxCost }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(maxTurns !== undefined && { maxTurns }),
    ...(maxToolCalls !== undefined && { maxToolCalls }),
    ...(maxModelCalls !== undefined && { maxModelCalls }),
    ...(allows && { unknownPrice: "allow" as const }),
    ...(estimates && { withoutUsage: "estimate" as const }),
  };
}

function lowerCost(a: Usd | undefined, b: Usd | undefined): Usd | undefined {
  return a === undefined || b === undefined ? (a ?? b) : compareUsd(b, a) < 0 ? b : a;
}

function lower(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}
