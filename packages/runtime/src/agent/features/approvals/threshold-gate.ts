import { compareRisk, type Approver, type Decision, type RiskLevel } from "@keelson/protocol";
import { grantedPatterns } from "../../definition/permissions/granted-rules.ts";

/** Allows every call. It leaves open what became of a call nobody knows about: that needs someone who can look. */
export const autoApprove: Approver = (request) => (request.type === "approval" ? { type: "allow", by: "auto-approve" } : undefined);

/** Denies every call. Like `autoApprove` it answers approvals only. */
export const autoDeny: Approver = (request) =>
  request.type === "approval" ? { type: "deny", by: "auto-deny", reason: "Calls that need an approval are denied here." } : undefined;

/**
 * Allows calls whose risk is at most `threshold` and passes the others on to `inner`. What `inner` answers `allow-always` is
 * remembered by the rules that it allows: a later call is allowed without asking again, whatever its risk, where they are all the
 * rules of one of the choices that its request offers.
 */
export function thresholdGate(threshold: RiskLevel, inner: Approver): Approver {
  const remembered = new Map<string, string | undefined>();
  return async (request, options) => {
    if (request.type !== "approval") return inner(request, options);
    const choice = request.always?.find(({ rules }) => rules.length > 0 && rules.every((rule) => remembered.has(rule)));
    if (choice !== undefined) return allowedBy(remembered.get(choice.rules[0] as string));
    if (compareRisk(request.risk, threshold) <= 0) return { type: "allow", by: "risk-threshold" };
    const decision = await inner(request, options);
    if (decision?.type === "allow-always")
      for (const rule of grantedPatterns(decision.rules, request.always)) remembered.set(rule, decision.by);
    return decision;
  };
}

function allowedBy(by: string | undefined): Decision {
  return by === undefined ? { type: "allow" } : { type: "allow", by };
}
