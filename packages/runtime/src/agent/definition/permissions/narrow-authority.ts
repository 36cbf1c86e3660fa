import { compareUsd, type Authority, type BudgetScope, type PermissionPolicy, type SandboxConfig, type Usd } from "@keelson/protocol";
import { canonicalJson } from "../../../json/canonical-json.ts";
import { unitedSources } from "../../../session/untrusted-sources.ts";
import { unitedBudgets } from "../budget/budget-scopes.ts";
import { checkOptionNames } from "../../../json/option-names.ts";

/** What a level of the tree of runs takes away from what it was given. An `Authority` is one too. */
export interface AuthorityNarrowing {
  /** Rules and mode of this level. Without a mode it adds its rules only: allow rules then change nothing. */
  readonly policy?: { readonly [K in keyof PermissionPolicy]?: PermissionPolicy[K] | undefined } | undefined;
  readonly policies?: readonly PermissionPolicy[] | undefined;
  readonly allowedTools?: readonly string[] | undefined;
  readonly maxCost?: Usd | undefined;
  readonly budgets?: readonly BudgetScope[] | undefined;
  readonly sandboxes?: readonly SandboxConfig[] | undefined;
  /** Unix ms. */
  readonly deadline?: number | undefined;
  readonly depth?: number | undefined;
  /** Sources of untrusted text: having seen more of it is having less authority. */
  readonly untrusted?: readonly string[] | undefined;
}

/**
 * What is left of `parent` after this level's own limits: never more than `parent` had. Narrowing twice by the same is
 * narrowing once, and it doesn't matter how a chain of levels is bracketed.
 */
export function narrowAuthority(parent: Authority, by: AuthorityNarrowing): Authority {
  checkOptionNames("narrowAuthority", by, {
    policy: true,
    policies: true,
    allowedTools: true,
    maxCost: true,
    budgets: true,
    sandboxes: true,
    deadline: true,
    depth: true,
    untrusted: true,
  });
  const added = by.policy === undefined ? (by.policies ?? []) : [...(by.policies ?? []), policyOf(by.policy)];
  const policies = added.reduce(withPolicy, withoutRepeats(parent.policies));
  const allowedTools = intersection(parent.allowedTools, by.allowedTools);
  const maxCost = lower(parent.maxCost, by.maxCost, compareUsd);
  const budgets = parent.budgets || by.budgets ? unitedBudgets(parent.budgets, by.budgets) : undefined;
  const sandboxes = parent.sandboxes || by.sandboxes ? withoutCopies([...(parent.sandboxes ?? []), ...(by.sandboxes ?? [])]) : undefined;
  const deadline = lower(parent.deadline, by.deadline, compareNumbers);
  const untrusted = unitedSources(parent.untrusted ?? [], by.untrusted);
  return {
    policies,
    ...(allowedTools !== undefined && { allowedTools }),
    ...(maxCost !== undefined && { maxCost }),
    ...(budgets !== undefined && { budgets }),
    ...(sandboxes !== undefined && { sandboxes }),
    ...(deadline !== undefined && { deadline }),
    depth: Math.min(parent.depth, by.depth ?? parent.depth),
    ...(untrusted.length > 0 && { untrusted }),
  };
}

function withoutRepeats(policies: readonly PermissionPolicy[]): readonly PermissionPolicy[] {
  return policies.length < 2 ? policies : policies.reduce<readonly PermissionPolicy[]>(withPolicy, []);
}

/** A policy that stands there already takes nothing more away; a tree of like agents must not grow a list. */
function withPolicy(policies: readonly PermissionPolicy[], added: PermissionPolicy): readonly PermissionPolicy[] {
  return policies.some((policy) => samePolicy(policy, added)) ? policies : [...policies, added];
}

/** Each holds beside the others: one that stands there already takes nothing more away. */
function withoutCopies(sandboxes: readonly SandboxConfig[]): readonly SandboxConfig[] {
  return [...new Map(sandboxes.map((sandbox) => [canonicalJson(sandbox), sandbox])).values()];
}

function policyOf({
  mode = "bypass-all",
  rules = [],
  sensitivePaths,
  bounds,
}: NonNullable<AuthorityNarrowing["policy"]>): PermissionPolicy {
  return { mode, rules, ...(sensitivePaths !== undefined && { sensitivePaths }), ...(bounds !== undefined && { bounds }) };
}

function samePolicy(a: PermissionPolicy, b: PermissionPolicy): boolean {
  if (a === b) return true;
  return (
    a.mode === b.mode &&
    canonicalJson(a.sensitivePaths) === canonicalJson(b.sensitivePaths) &&
    canonicalJson(a.bounds) === canonicalJson(b.bounds) &&
    a.rules.length === b.rules.length &&
    a.rules.every((rule, index) => rule.pattern === b.rules[index]?.pattern && rule.behavior === b.rules[index]?.behavior)
  );
}

function intersection(a: readonly string[] | undefined, b: readonly string[] | undefined): readonly string[] | undefined {
  return a === undefined || b === undefined ? (a ?? b) : a.filter((name) => b.includes(name));
}

function lower<T>(a: T | undefined, b: T | undefined, compare: (a: T, b: T) => number): T | undefined {
  return a === undefined || b === undefined ? (a ?? b) : compare(b, a) < 0 ? b : a;
}

function compareNumbers(a: number, b: number): number {
  return a - b;
}
