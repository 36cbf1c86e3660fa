import {
  AgentError,
  type EffectBounds,
  PERMISSION_MODES,
  type PermissionBehavior,
  type PermissionMode,
  type PermissionPolicy,
  type PermissionRule,
} from "@keelson/protocol";
import { aliasesOf } from "../../../tools/find-alias.ts";
import { type Glob, matchesGlob } from "./glob.ts";
import type { ToolRule } from "./match-rule.ts";
import type { PermissionDecision } from "./permission-decision.ts";
import { compareSpecificity, compilePermissionRule, REACHING_TOOLS } from "./permission-rule.ts";
import { sensitiveSet, type SensitiveSet } from "./sensitive-paths.ts";

/** A policy ready for use. Make it once with `compilePolicy`; deciding with it parses nothing. */
export interface CompiledPolicy {
  readonly mode: PermissionMode;
  readonly rules: readonly PermissionRule[];
  readonly sensitive: SensitiveSet;
  readonly bounds?: EffectBounds;
  rulesFor(toolName: string): ToolRules;
}

/** The rules of one policy that may be about the calls of one tool, most specific first. */
export interface ToolRules {
  readonly deny: readonly RuleVerdict[];
  readonly ask: readonly RuleVerdict[];
  readonly allow: readonly RuleVerdict[];
  /** Some deny or ask rule looks at what a call does, so that what can't be known of it is no matter of indifference. */
  readonly guards: boolean;
}

export interface RuleVerdict extends ToolRule {
  readonly decision: PermissionDecision;
}

/** @throws AgentError of kind `invalid-option` for a rule or mode that can't be read */
export function compilePolicy(policy: PermissionPolicy, option: string = "permissions"): CompiledPolicy {
  const { mode } = policy;
  if (!PERMISSION_MODES.includes(mode)) {
    throw new AgentError({
      kind: "invalid-option",
      option: `${option}.mode`,
      message: `There is no permission mode ${JSON.stringify(mode)}. Choose one of ${PERMISSION_MODES.join(", ")}.`,
    });
  }
  return {
    mode,
    rules: policy.rules,
    sensitive: sensitiveSet(policy.sensitivePaths),
    ...(policy.bounds !== undefined && { bounds: policy.bounds }),
    rulesFor: compileRules(policy.rules, `${option}.rules`),
  };
}

/** @throws AgentError of kind `invalid-option` for a rule that can't be read */
export function compileRules(given: readonly PermissionRule[], option: string): CompiledPolicy["rulesFor"] {
  const rules = given.map((rule, index) => ({ compiled: compilePermissionRule(rule, `${option}[${index}]`), decision: decisionOf(rule) }));
  rules.sort((a, b) => compareSpecificity(a.compiled, b.compiled));
  const byTool = new Map<string, ToolRules>();
  return (toolName) => {
    let found = byTool.get(toolName);
    if (found === undefined) {
      const about = rules.flatMap(({ compiled, decision }): RuleVerdict[] => {
        const own = matchesGlob(compiled.tool, toolName) || (decision.behavior !== "allow" && isAboutWriting(compiled.tool, toolName));
        const { binds } = compiled;
        return own || binds?.reads || binds?.writes || binds?.hosts || compiled.opens !== undefined ? [{ compiled, decision, own }] : [];
      });
      const withBehavior = (behavior: PermissionBehavior): readonly RuleVerdict[] =>
        about.filter(({ decision }) => decision.behavior === behavior);
      found = {
        deny: withBehavior("deny"),
        ask: withBehavior("ask"),
        allow: withBehavior("allow"),
        guards: about.some(({ compiled: { argument }, decision }) => argument !== undefined && decision.behavior !== "allow"),
      };
      byTool.set(toolName, found);
    }
    return found;
  };
}

/**
 * True if a rule names a tool that changes files, and the tool is another form of that: a patch edits and writes files. A rule that denies or asks must hold
 * for it, too; one that allows is only about the tool that it names.
 */
function isAboutWriting(rule: Glob, toolName: string): boolean {
  return aliasesOf(toolName).some(({ tool }) => REACHING_TOOLS.writes.includes(tool) && matchesGlob(rule, tool));
}

function decisionOf(rule: PermissionRule): PermissionDecision {
  const said = JSON.stringify(rule.pattern);
  switch (rule.behavior) {
    case "allow":
      return { behavior: "allow", rule, reason: `The permission rule ${said} allows it.` };
    case "ask":
      return { behavior: "ask", rule, reason: `The permission rule ${said} asks before such calls.` };
    case "deny":
      return { behavior: "deny", rule, reason: `The permission rule ${said} denies it. Find another way, or have that rule changed.` };
  }
}
