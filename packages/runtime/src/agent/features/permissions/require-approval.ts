import type { PermissionMode } from "@keelson/protocol";
import type { RuleVerdict } from "../../definition/permissions/compiled-policy.ts";
import type { JudgedCall } from "../../definition/permissions/judged-call.ts";
import { isExactly } from "../../definition/permissions/match-rule.ts";
import type { PermissionDecision } from "../../definition/permissions/permission-decision.ts";
import { alwaysChoices } from "./always-choices.ts";
import { coverCall } from "./cover-call.ts";

/**
 * Makes a decision stricter, because the tool of the call needs a person's approval. Only grants about this tool end that: what a person allowed
 * for another tool, or an author wrote as a rule, does not.
 * @param approval the reason, for the person
 */
export function requireApproval(
  decision: PermissionDecision,
  approval: string,
  { mode, call, grants }: { readonly mode: PermissionMode; readonly call: JudgedCall; readonly grants: readonly RuleVerdict[] },
): PermissionDecision {
  if (decision.behavior === "deny") return decision;
  if (mode === "deny-unauthorized")
    return { behavior: "deny", reason: `${approval} In permission mode deny-unauthorized nobody is asked: go on without this call.` };
  const own = grants.filter((grant) => grant.own);
  if (own.some((grant) => isExactly(grant, call))) return decision;
  const granted = coverCall(own, call);
  if (granted.decision !== undefined) return decision;
  // A grant must answer the other question about the call, too.
  const exactOnly = decision.behavior === "ask" && decision.always?.length === 1;
  const always = alwaysChoices(call, { open: granted.open, exactOnly });
  const reason = decision.behavior === "ask" ? `${approval} ${decision.reason}` : approval;
  return { behavior: "ask", reason, always, shown: { summary: approval } };
}
