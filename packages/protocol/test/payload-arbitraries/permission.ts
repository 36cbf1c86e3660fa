import fc from "fast-check";
import { type Authority, PERMISSION_MODES, type PermissionPolicy, type PermissionRule } from "@keelson/protocol";
import { asJson, few, some } from "./combinators.ts";
import { sandboxConfig } from "./sandbox.ts";
import { usd } from "./usage.ts";
import { at, count, text } from "./values.ts";

export const permissionRule: fc.Arbitrary<PermissionRule> = asJson<PermissionRule>(
  fc.record({ pattern: text, behavior: fc.constantFrom("allow", "deny", "ask") }),
);

export const permissionPolicy: fc.Arbitrary<PermissionPolicy> = asJson<PermissionPolicy>(
  fc.record({ mode: fc.constantFrom(...PERMISSION_MODES), rules: few(permissionRule) }),
);

const budgetScope = some(
  { id: text },
  {
    maxCost: usd,
    maxTokens: count,
    maxTurns: count,
    maxToolCalls: count,
    maxModelCalls: count,
    unknownPrice: fc.constantFrom("refuse", "allow"),
    withoutUsage: fc.constantFrom("reserve", "estimate"),
  },
);

export const authority: fc.Arbitrary<Authority> = asJson<Authority>(
  some(
    { policies: few(permissionPolicy), depth: count },
    { allowedTools: few(text), maxCost: usd, deadline: at, budgets: few(budgetScope), sandboxes: few(sandboxConfig) },
  ),
);
