import type { BudgetScope } from "../budget.ts";
import type { Authority, EffectBounds, PermissionMode, PermissionPolicy, PermissionRule, SensitivePaths } from "../permission.ts";
import { type Codec, count, fields, flag, list, number, oneOf, optional, payload, text } from "./codec.ts";
import { sandboxConfigCodec } from "./sandbox-codec.ts";
import { usdCodec } from "./usd-codec.ts";
import { versioned } from "./versioned.ts";

// Words that grant rights are closed: what this version doesn't know must not be taken for something milder.
export const permissionRuleCodec: Codec<PermissionRule> = versioned(
  "permission rule",
  fields<PermissionRule>({ pattern: text(), behavior: oneOf("allow", "deny", "ask") }),
);

const sensitivePatterns = fields<Exclude<SensitivePaths, false>>({ reads: optional(list(text())), writes: optional(list(text())) });
const sensitivePathsCodec: Codec<SensitivePaths> = {
  decode: (value) => (value === false ? value : sensitivePatterns.decode(value)),
  encode: (value) => (value === false ? value : sensitivePatterns.encode(value)),
};

const texts = optional(list(text()));
const effectBoundsCodec: Codec<EffectBounds> = fields<EffectBounds>({
  filesystem: optional(
    fields<NonNullable<EffectBounds["filesystem"]>>({
      writableRoots: texts,
      readableRoots: texts,
      deniedPaths: texts,
      hideCredentials: optional(flag),
      protectedPaths: texts,
    }),
  ),
  network: optional(fields<NonNullable<EffectBounds["network"]>>({ enabled: flag, allowedDomains: texts, deniedDomains: texts })),
  commands: optional(fields<NonNullable<EffectBounds["commands"]>>({ allowed: texts, denied: texts })),
});

export const permissionModeCodec: Codec<PermissionMode> = oneOf<PermissionMode>(
  "default",
  "accept-edits",
  "plan-only",
  "bypass-all",
  "deny-unauthorized",
);

export const permissionPolicyCodec: Codec<PermissionPolicy> = versioned(
  "permission policy",
  fields<PermissionPolicy>({
    mode: permissionModeCodec,
    rules: list(permissionRuleCodec),
    sensitivePaths: optional(sensitivePathsCodec),
    bounds: optional(effectBoundsCodec),
  }),
);

const budgetScopeCodec: Codec<BudgetScope> = payload(
  "budget",
  fields<BudgetScope>({
    id: text(),
    maxCost: optional(usdCodec),
    maxTokens: optional(count),
    maxTurns: optional(count),
    maxToolCalls: optional(count),
    maxModelCalls: optional(count),
    unknownPrice: optional(oneOf("refuse", "allow")),
    withoutUsage: optional(oneOf("reserve", "estimate")),
  }),
);

export const authorityCodec: Codec<Authority> = versioned(
  "authority",
  fields<Authority>({
    policies: list(permissionPolicyCodec),
    allowedTools: optional(list(text())),
    maxCost: optional(usdCodec),
    budgets: optional(list(budgetScopeCodec)),
    sandboxes: optional(list(sandboxConfigCodec)),
    deadline: optional(number),
    depth: count,
    untrusted: optional(list(text())),
  }),
);
