import { compareRisk, type AlwaysChoice, type CallEffects, type PermissionMode } from "@keelson/protocol";
import { alwaysChoices } from "./always-choices.ts";
import type { CompiledPolicy, RuleVerdict, ToolRules } from "../../definition/permissions/compiled-policy.ts";
import { coverCall, type OpenPart } from "./cover-call.ts";
import { code, describeCall, describeOpen, describeSensitive } from "./describe-question.ts";
import { decideOpenings, decideOutside, outsideCall, outsideRules } from "./decide-openings.ts";
import { judgeBounds } from "./judge-bounds.ts";
import { leavesWith } from "./leaves-with.ts";
import { askAboutGuards, type Asked } from "./ask-about-guards.ts";
import { isHarmless, judgedCall, type JudgedCall, type PermissionSubject } from "../../definition/permissions/judged-call.ts";
import { bindsRead, bindsWrite, isExactly, namesCall } from "../../definition/permissions/match-rule.ts";
import type { SeenPath } from "../../definition/permissions/path-pattern.ts";
import { requireApproval } from "./require-approval.ts";
import type { PermissionDecision } from "../../definition/permissions/permission-decision.ts";
import { isExact } from "../../definition/permissions/permission-rule.ts";
import { checkOptionNames } from "../../../json/option-names.ts";

const NO_RULES: readonly RuleVerdict[] = [];
const NO_SOURCES: readonly string[] = [];

/**
 * May this call run? Every policy, from the outermost run to this one, is asked, and the strictest verdict holds. Within a
 * policy: a deny rule, then what the sandbox of the call or the bounds of the policy refuse, then what the mode forbids, then a tool that changed, then an ask rule, then the approval that the tool needs, then an allow rule that is
 * exactly this call, then what can't be known and what is sensitive, then allow rules and grants, then what the mode says of such calls.
 * No policy at all restricts nothing, so the root of a run always brings one.
 */
export function decidePermission(given: {
  /** Outermost first. */
  readonly policies: readonly CompiledPolicy[];
  /** Under its resolved name. */
  readonly tool: PermissionSubject;
  /** What the tool's `permissionText` says of the final arguments, else their canonical JSON; made where something looks at it. */
  readonly argumentText: string | (() => string);
  /** The canonical JSON of the arguments, where `argumentText` is another. */
  readonly argumentsJson?: (() => string) | undefined;
  /** What the tool's `effectsOf` says of them. */
  readonly effects?: CallEffects | undefined;
  /** The agent's working directory, absolute. */
  readonly cwd?: string | undefined;
  readonly allowedTools?: readonly string[] | undefined;
  /** Allow rules that people added to all policies. They answer questions, and lift no denial. */
  readonly grants?: readonly RuleVerdict[] | undefined;
  /** Where text in context comes from that nobody vouches for. */
  readonly untrusted?: readonly string[] | undefined;
  /** Why a person is to look at the tool first, whatever rule would allow the call. */
  readonly changed?: string | undefined;
  /** The reason why a person must allow the call of this tool: like an ask rule, but a grant that covers the call ends it. */
  readonly approval?: string | undefined;
}): PermissionDecision {
  checkOptionNames("decidePermission", given, {
    policies: true,
    tool: true,
    argumentText: true,
    argumentsJson: true,
    effects: true,
    cwd: true,
    allowedTools: true,
    grants: true,
    untrusted: true,
    changed: true,
    approval: true,
  });
  const { tool, argumentText, argumentsJson: json, effects, cwd, allowedTools, grants = NO_RULES, untrusted = NO_SOURCES } = given;
  if (allowedTools !== undefined && !allowedTools.includes(tool.name)) {
    const those = allowedTools.length === 0 ? "no tools at all" : `only ${allowedTools.join(", ")}`;
    return { behavior: "deny", reason: `${tool.name} is not on the list of allowed tools: this run may call ${those}.` };
  }
  const call = judgedCall({ tool, argumentText, json, effects, cwd });
  let verdict: PermissionDecision = UNRESTRICTED;
  for (const policy of given.policies) {
    const rules = policy.rulesFor(tool.name);
    const decision = decideByPolicy(policy, rules, call, policy.mode === "deny-unauthorized" ? NO_RULES : grants, {
      isTainted: untrusted.length > 0,
      changed: given.changed,
      approval: given.approval,
    });
    if (decision.behavior === "deny") return decision;
    if (decision.behavior === "ask") verdict = verdict.behavior === "ask" ? bothAsk(verdict, decision) : decision;
    else if (verdict === UNRESTRICTED) verdict = decision;
  }
  return verdict.behavior === "ask" && untrusted.length > 0 ? naming(verdict, untrusted) : verdict;
}

/** Whoever is asked is told whose words may be behind the call. */
function naming(asked: PermissionDecision, untrusted: readonly string[]): PermissionDecision {
  const { length } = untrusted;
  const named = untrusted.slice(-MAX_NAMED).map(quoteText).join(", ");
  const more = length > MAX_NAMED ? ` and ${length - MAX_NAMED} more` : "";
  const { shown } = asked;
  return {
    ...asked,
    reason: `${asked.reason} Text that nobody vouches for is in context, from ${named}${more}: it may be what asks for this.`,
    ...(shown && { shown: { ...shown, summary: `${shown.summary}; text from ${named}${more} may be what asks for it` } }),
  };
}
const MAX_NAMED = 3;

/** What a person may allow for good has to answer both. */
function bothAsk(first: PermissionDecision, second: PermissionDecision): PermissionDecision {
  if (first.always === undefined || second.always !== undefined) return first;
  const { always: _always, ...asked } = first;
  return asked;
}

interface CallCircumstances {
  readonly isTainted: boolean;
  readonly changed: string | undefined;
  readonly approval: string | undefined;
}

function decideByPolicy(
  policy: CompiledPolicy,
  rules: ToolRules,
  call: JudgedCall,
  grants: readonly RuleVerdict[],
  { isTainted, changed, approval }: CallCircumstances,
): PermissionDecision {
  const { mode } = policy;
  const { tool, effects } = call;
  const deny = firstNamed(rules.deny, call);
  if (deny !== undefined) return deny;
  const refused = effects?.confined?.refused ?? [];
  if (refused.length > 0) return refusedBySandbox(refused);
  const outOfBounds =
    policy.bounds === undefined || effects === undefined ? [] : judgeBounds(policy.bounds, withoutClosed(effects), call.cwd);
  if (outOfBounds.length > 0) return refusedByBounds(outOfBounds);
  if (mode === "plan-only" && tool.effect !== "read" && !isHarmless(call)) return notARead(call);
  if (changed !== undefined && mode !== "bypass-all")
    return mode === "deny-unauthorized"
      ? unauthorized(tool, `nobody has looked at this. ${changed}`)
      : { behavior: "ask", reason: changed };
  const ask = firstNamed(rules.ask, call);
  if (ask !== undefined)
    return mode === "deny-unauthorized"
      ? unauthorized(tool, `the rule ${quote(ask)} only asks`)
      : { ...ask, shown: describeCall(call, `is what the rule ${code(ask.rule?.pattern ?? "")} asks about`) };
  const own =
    effects?.outside === undefined
      ? decideUnasked(policy, rules, call, grants, isTainted)
      : decideOutside(
          decideUnasked(policy, { ...rules, allow: outsideRules(rules.allow) }, outsideCall(call), outsideRules(grants), isTainted),
          call,
          mode,
        );
  const decision = decideOpenings(own, call, { mode, allow: [...rules.allow, ...grants] });
  return approval === undefined || mode === "bypass-all" ? decision : requireApproval(decision, approval, { mode, call, grants });
}

/** The sandbox asks about hosts that its policy does not list; without one, the bounds refuse them. */
function withoutClosed(effects: CallEffects): CallEffects {
  const closed = effects.confined?.closed ?? [];
  return closed.length === 0 ? effects : { ...effects, hosts: (effects.hosts ?? []).filter((host) => !closed.includes(host)) };
}

/** The decision on a call that no rule denies or asks about. */
function decideUnasked(
  policy: CompiledPolicy,
  rules: ToolRules,
  call: JudgedCall,
  grants: readonly RuleVerdict[],
  isTainted: boolean,
): PermissionDecision {
  const { mode } = policy;
  const { tool } = call;
  const allow = grants.length === 0 ? rules.allow : [...rules.allow, ...grants];
  const exact = allow.find((rule) => isExactly(rule, call));
  if (exact !== undefined) return exact.decision;
  const asks = ({ reason, why, shown }: Asked, open: readonly OpenPart[], exactOnly: boolean): PermissionDecision =>
    mode === "deny-unauthorized"
      ? unauthorized(tool, why)
      : { behavior: "ask", reason, always: alwaysChoices(call, { open, exactOnly }), shown };
  const guarded = askAboutGuards(policy, rules, call);
  if (guarded !== undefined) return asks(guarded, [], true);
  const sensitive = mode === "bypass-all" ? [] : sensitiveIn(policy, allow, call);
  if (sensitive.length > 0)
    return asks(
      {
        reason: `It is sensitive: ${sensitive.join("; ")}. Only a rule that names exactly this lets it run without a question.`,
        why: `it is sensitive (${sensitive.join("; ")}), which only a rule without a wildcard can allow`,
        shown: describeSensitive(call, sensitive),
      },
      [],
      true,
    );
  const { decision, open } = coverCall(allow, call);
  if (decision !== undefined) return decision;
  const leaving = isTainted && mode !== "bypass-all" ? leavesWith(allow, call) : [];
  if (leaving.length > 0) {
    const told = leaving.join("; ");
    return asks(
      {
        reason: `No rule allows this with untrusted text in context: ${told}.`,
        why: `untrusted text is in context, and ${told}`,
        shown: { summary: `No rule allows it: ${told}` },
      },
      open,
      false,
    );
  }
  return decideByMode(mode, call, open);
}

function firstNamed(rules: readonly RuleVerdict[], call: JudgedCall): PermissionDecision | undefined {
  for (const rule of rules) if (namesCall(rule, call)) return rule.decision;
  return undefined;
}

/** What it does to sensitive files that no rule without a wildcard allows, a phrase each. */
function sensitiveIn({ sensitive }: CompiledPolicy, allow: readonly RuleVerdict[], { reads, writes }: JudgedCall): readonly string[] {
  const written = writes.filter((path) => sensitive.write(path) && !allow.some((rule) => isExact(rule.compiled) && bindsWrite(rule, path)));
  const read = reads.filter(
    (path) =>
      sensitive.read(path) &&
      !writes.some(({ shown }) => shown === path.shown) &&
      !allow.some((rule) => isExact(rule.compiled) && bindsRead(rule, path)),
  );
  const told = (verb: string, paths: readonly SeenPath[]): readonly string[] =>
    paths.map(({ shown }) => `${verb} ${JSON.stringify(shown)}`);
  return [...told("it writes", written), ...told("it reads", read)];
}

/** What a mode says where no rule does. The highest risk it lets run without a question, for reads and for edits of files. */
function decideByMode(mode: PermissionMode, call: JudgedCall, open: readonly OpenPart[]): PermissionDecision {
  const { tool } = call;
  if (mode === "bypass-all") return BYPASSED;
  if (mode === "deny-unauthorized")
    return unauthorized(tool, open.length === 0 ? "no rule does" : `this is not: ${open.map(({ told }) => told).join("; ")}`);
  if (isHarmless(call)) return READS_ONLY;
  if (compareRisk(tool.risk, "low") <= 0) return HARMLESS;
  if (call.effects?.confined !== undefined) return CONFINED;
  if (mode === "accept-edits" && tool.category === "edit" && compareRisk(tool.risk, "medium") <= 0) return EDIT;
  const always: readonly AlwaysChoice[] = alwaysChoices(call, { open, exactOnly: false });
  const parts = open.length === 0 ? "" : ` Not allowed yet: ${open.map(({ told }) => told).join("; ")}.`;
  return {
    behavior: "ask",
    reason: `In permission mode ${mode}, ${tool.name} asks first (effect ${tool.effect}, risk ${tool.risk}).${parts} An allow rule for it would let it run without a question.`,
    always,
    shown: describeOpen(call, open),
  };
}

const UNRESTRICTED: PermissionDecision = { behavior: "allow", reason: "No policy restricts this run." };
const BYPASSED: PermissionDecision = {
  behavior: "allow",
  reason: "The permission mode bypass-all lets everything run that no rule denies or asks for.",
};
const READS_ONLY: PermissionDecision = { behavior: "allow", reason: "Commands that are known to change nothing run without a question." };
const HARMLESS: PermissionDecision = { behavior: "allow", reason: "Reads and reversible changes (risk up to low) run without a question." };
const CONFINED: PermissionDecision = { behavior: "allow", reason: "It runs in a sandbox, which refuses nothing that can be told of it." };
const EDIT: PermissionDecision = { behavior: "allow", reason: "The permission mode accept-edits lets file modifications run." };

function refusedBySandbox(refused: readonly string[]): PermissionDecision {
  return {
    behavior: "deny",
    reason: `The sandbox that it would run in refuses it: ${refused.join(" ")} Find another way (protected files are written with a tool that edits files, which asks), or have the policy of the sandbox changed.`,
  };
}

function refusedByBounds(refused: readonly string[]): PermissionDecision {
  return {
    behavior: "deny",
    reason: `The policy of this run refuses it: ${refused.join(" ")} Find another way, or have that policy changed.`,
  };
}

function notARead({ tool, effects }: JudgedCall): PermissionDecision {
  const what =
    effects?.commands === undefined ? `${tool.name} is not a read (its effect is ${tool.effect})` : `this is not known to be a read only`;
  return {
    behavior: "deny",
    reason: `The permission mode is plan-only, and ${what}. Read and plan; to carry the plan out, leave plan-only mode.`,
  };
}

function unauthorized(tool: PermissionSubject, why: string): PermissionDecision {
  return {
    behavior: "deny",
    reason: `In permission mode deny-unauthorized only what a rule allows may run, and ${why}. An allow rule such as "${tool.name}" would let ${tool.name} run; otherwise go on without it.`,
  };
}

function quoteText(text: string): string {
  return JSON.stringify(text);
}

function quote({ rule }: PermissionDecision): string {
  return JSON.stringify(rule?.pattern ?? "");
}
