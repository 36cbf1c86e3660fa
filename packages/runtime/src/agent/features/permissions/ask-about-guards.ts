import type { CompiledPolicy, ToolRules } from "../../definition/permissions/compiled-policy.ts";
import type { JudgedCall } from "../../definition/permissions/judged-call.ts";
import type { ShownQuestion } from "../../definition/permissions/permission-decision.ts";
import { code, describeCall } from "./describe-question.ts";
import { mayTouchGuarded } from "./may-touch-guarded.ts";
import { computedName, untoldOf } from "./untold-commands.ts";

/** The reason of a question, the same for a mode in which nobody is asked, and what a person is shown. */
export interface Asked {
  readonly reason: string;
  readonly why: string;
  readonly shown: ShownQuestion;
}

/** Returns the question about a call that some deny or ask rule, or the bounds of the policy, may be about. */
export function askAboutGuards(policy: CompiledPolicy, rules: ToolRules, call: JudgedCall): Asked | undefined {
  const maybe = computedName(rules, call);
  if (maybe !== undefined) {
    const pattern = maybe.rule.decision.rule?.pattern ?? "";
    return {
      reason: `The permission rule ${JSON.stringify(pattern)} may be about ${JSON.stringify(maybe.text)}, depending on what the line computes.`,
      why: `the rule ${JSON.stringify(pattern)} may be about it, depending on what the line computes`,
      shown: { summary: `${code(maybe.text)} may be what the rule ${code(pattern)} is about, depending on what the line computes` },
    };
  }
  const untold = untoldOf(policy, rules, call);
  if (untold.length > 0) {
    const unknown = untold.join(" ");
    const guards = rules.guards ? "rules deny or ask about" : "a policy forbids";
    return {
      reason: `What this would do can't be known by reading it, and there ${rules.guards ? "are rules that deny or ask for" : "is a policy that forbids"} some of it: ${unknown}`,
      why: `what this would do can't be known by reading it: ${unknown}`,
      shown: describeCall(call, `cannot be known before it runs, and ${guards} some of it: ${(untold[0] ?? "").replace(/\.$/, "")}`),
    };
  }
  const guarded = mayTouchGuarded(policy, rules, call);
  if (guarded.length === 0) return undefined;
  const told = guarded.map((pattern) => (pattern === "*" ? "any file" : JSON.stringify(pattern))).join(", ");
  return {
    reason: `Which files this would touch can't be told by reading it, and some may not be: it may touch ${told}.`,
    why: `which files this would touch can't be told by reading it, and some may not be: it may touch ${told}`,
    shown: describeCall(call, `may touch ${told}, and rules guard some of these files`),
  };
}
