import {
  compareRisk,
  PERMISSION_MODES,
  AgentError,
  type PermissionBehavior,
  type PermissionMode,
  type PermissionPolicy,
  type PermissionRule,
  type Tool,
} from "@keelson/protocol";
import { compareSpecificity, compilePermissionRule, matchesArgument, matchesGlob, type CompiledRule } from "./permission-rule.ts";
import { readShellCommand, type ShellCommand } from "./shell-command.ts";

export interface PermissionDecision {
  readonly behavior: PermissionBehavior;
  /** Which rule or mode decided, and what to do about it. Told to the person who is asked, and to the model on a denial. */
  readonly reason: string;
  readonly rule?: PermissionRule;
}

/** What a decision needs to know of a tool. */
export type PermissionSubject = Pick<Tool, "name" | "effect" | "risk" | "category">;

/** A policy ready for use. Make it once with `compilePolicy`; deciding with it parses nothing. */
export interface CompiledPolicy {
  readonly mode: PermissionMode;
  rulesFor(toolName: string): ToolRules;
}

/** The rules of one policy that are about one tool, most specific first. */
interface ToolRules {
  readonly deny: readonly RuleVerdict[];
  readonly ask: readonly RuleVerdict[];
  readonly allow: readonly RuleVerdict[];
  readonly readsArguments: boolean;
  /** What the policy last said of the tool, where no rule looks at arguments: the same of every call. */
  settled?: SettledVerdict;
}
interface SettledVerdict {
  readonly effect: Tool["effect"];
  readonly risk: Tool["risk"];
  readonly category: Tool["category"] | undefined;
  readonly decision: PermissionDecision;
}
interface RuleVerdict {
  readonly compiled: CompiledRule;
  readonly decision: PermissionDecision;
}

const policies = new WeakMap<PermissionPolicy, CompiledPolicy>();

/**
 * Compiles a policy, once per policy object: children share what their parent compiled.
 * @throws AgentError of kind `invalid-option` for a rule or mode that can't be read
 */
export function compilePolicy(policy: PermissionPolicy, option: string = "permissions"): CompiledPolicy {
  const known = policies.get(policy);
  if (known !== undefined) return known;
  const { mode } = policy;
  if (!PERMISSION_MODES.includes(mode)) {
    throw new AgentError({
      kind: "invalid-option",
      option: `${option}.mode`,
      message: `There is no permission mode ${JSON.stringify(mode)}. Choose one of ${PERMISSION_MODES.join(", ")}.`,
    });
  }
  const rules = policy.rules.map((rule, index): RuleVerdict => {
    const compiled = compilePermissionRule(rule, `${option}.rules[${index}]`);
    return { compiled, decision: decisionOf(rule) };
  });
  rules.sort((a, b) => compareSpecificity(a.compiled, b.compiled));
  const byTool = new Map<string, ToolRules>();
  const compiled: CompiledPolicy = {
    mode,
    rulesFor(toolName) {
      let found = byTool.get(toolName);
      if (found === undefined) {
        const about = rules.filter(({ compiled: { tool } }) => matchesGlob(tool, toolName));
        const withBehavior = (behavior: PermissionBehavior): readonly RuleVerdict[] =>
          about.filter(({ decision }) => decision.behavior === behavior);
        found = {
          deny: withBehavior("deny"),
          ask: withBehavior("ask"),
          allow: withBehavior("allow"),
          readsArguments: about.some(({ compiled: { argument } }) => argument !== undefined),
        };
        byTool.set(toolName, found);
      }
      return found;
    },
  };
  policies.set(policy, compiled);
  return compiled;
}

/** Whether any rule about this tool looks at its arguments. If not, `argumentText` need not be made: any text will do. */
export function readsArguments(compiled: readonly CompiledPolicy[], toolName: string): boolean {
  for (const policy of compiled) if (policy.rulesFor(toolName).readsArguments) return true;
  return false;
}

/**
 * May this call run? Every policy, from the outermost run to this one, is asked, and the strictest answer holds. Within a
 * policy: a deny rule, then what its mode forbids, then an ask rule, then an allow rule, then what its mode says of such tools.
 * No policy at all restricts nothing, so the root of a run always brings one.
 */
export function decidePermission(call: {
  /** Outermost first. */
  readonly policies: readonly CompiledPolicy[];
  /** Under its resolved name. */
  readonly tool: PermissionSubject;
  /** What the tool's `permissionText` says of the final arguments, else their canonical JSON. */
  readonly argumentText: string;
  readonly allowedTools?: readonly string[] | undefined;
}): PermissionDecision {
  const { tool, argumentText, allowedTools } = call;
  if (allowedTools !== undefined && !allowedTools.includes(tool.name)) {
    const those = allowedTools.length === 0 ? "no tools at all" : `only ${allowedTools.join(", ")}`;
    return { behavior: "deny", reason: `${tool.name} is not on the list of allowed tools: this run may call ${those}.` };
  }
  let shell: ShellCommand | undefined;
  let verdict: PermissionDecision = UNRESTRICTED;
  for (const policy of call.policies) {
    const rules = policy.rulesFor(tool.name);
    const { settled } = rules;
    let decision: PermissionDecision;
    if (settled !== undefined && settled.effect === tool.effect && settled.risk === tool.risk && settled.category === tool.category)
      ({ decision } = settled);
    else {
      if (shell === undefined && tool.category === "shell" && rules.readsArguments) shell = readShellCommand(argumentText);
      decision = decideByPolicy(policy.mode, rules, tool, argumentText, shell);
      if (!rules.readsArguments) rules.settled = { effect: tool.effect, risk: tool.risk, category: tool.category, decision };
    }
    if (decision.behavior === "deny") return decision;
    if (decision.behavior === "ask" ? verdict.behavior === "allow" : verdict === UNRESTRICTED) verdict = decision;
  }
  return verdict;
}

function decideByPolicy(
  mode: PermissionMode,
  rules: ToolRules,
  tool: PermissionSubject,
  argumentText: string,
  shell: ShellCommand | undefined,
): PermissionDecision {
  const deny = firstMatch(rules.deny, argumentText, shell);
  if (deny !== undefined) return deny;
  if (mode === "plan-only" && tool.effect !== "read") {
    return {
      behavior: "deny",
      reason: `The permission mode is plan-only, and ${tool.name} is not a read (its effect is ${tool.effect}). Read and plan; to carry the plan out, leave plan-only mode.`,
    };
  }
  const ask = firstMatch(rules.ask, argumentText, shell);
  if (ask !== undefined) return mode === "deny-unauthorized" ? unauthorized(tool, `the rule ${quote(ask.rule)} only asks`) : ask;
  return firstMatch(rules.allow, argumentText, shell) ?? decideByMode(mode, tool);
}

function firstMatch(rules: readonly RuleVerdict[], argumentText: string, shell: ShellCommand | undefined): PermissionDecision | undefined {
  for (const { compiled, decision } of rules) if (matchesArgument(compiled, argumentText, shell)) return decision;
  return undefined;
}

/** What a mode says where no rule does. The highest risk it lets run without a question, for reads and for edits of files. */
function decideByMode(mode: PermissionMode, tool: PermissionSubject): PermissionDecision {
  if (mode === "bypass-all") return BYPASSED;
  if (mode === "deny-unauthorized") return unauthorized(tool, "no rule does");
  if (compareRisk(tool.risk, "low") <= 0) return HARMLESS;
  if (mode === "accept-edits" && tool.category === "edit" && compareRisk(tool.risk, "medium") <= 0) return EDIT;
  return {
    behavior: "ask",
    reason: `In permission mode ${mode}, ${tool.name} asks first (effect ${tool.effect}, risk ${tool.risk}). An allow rule for it would let it run without a question.`,
  };
}

// Made once: an allowed call allocates nothing.
const UNRESTRICTED: PermissionDecision = { behavior: "allow", reason: "No policy restricts this run." };
const BYPASSED: PermissionDecision = {
  behavior: "allow",
  reason: "The permission mode bypass-all lets everything run that no rule denies or asks for.",
};
const HARMLESS: PermissionDecision = { behavior: "allow", reason: "Reads and reversible changes (risk up to low) run without a question." };
const EDIT: PermissionDecision = { behavior: "allow", reason: "The permission mode accept-edits lets file modifications run." };

function unauthorized(tool: PermissionSubject, why: string): PermissionDecision {
  return {
    behavior: "deny",
    reason: `In permission mode deny-unauthorized only what a rule allows may run, and ${why}. An allow rule such as "${tool.name}" would let ${tool.name} run; otherwise go on without it.`,
  };
}

function decisionOf(rule: PermissionRule): PermissionDecision {
  const said = quote(rule);
  switch (rule.behavior) {
    case "allow":
      return { behavior: "allow", rule, reason: `The permission rule ${said} allows it.` };
    case "ask":
      return { behavior: "ask", rule, reason: `The permission rule ${said} asks before such calls.` };
    case "deny":
      return { behavior: "deny", rule, reason: `The permission rule ${said} denies it. Find another way, or have that rule changed.` };
  }
}

function quote(rule: PermissionRule | undefined): string {
  return JSON.stringify(rule?.pattern ?? "");
}
