import { compareRisk, type Approver, type Decision, type RiskLevel } from "@keelson/protocol";

/** Allows every call. It leaves open what became of a call nobody knows about: that needs someone who can look. */
export const autoApprove: Approver = (request) => (request.type === "approval" ? { type: "allow", by: "auto-approve" } : undefined);

/** Denies every call. Like `autoApprove` it answers approvals only. */
export const autoDeny: Approver = (request) =>
  request.type === "approval" ? { type: "deny", by: "auto-deny", reason: "Calls that need an approval are denied here." } : undefined;

/**
 * Allows calls whose risk is at most `threshold` and passes the others on to `inner`. When `inner` answers `allow-always`,
 * later calls of the same operation are allowed without asking again, whatever their risk.
 */
export function thresholdGate(threshold: RiskLevel, inner: Approver): Approver {
  const always = new Map<string, Decision>();
  return async (request, options) => {
    if (request.type !== "approval") return inner(request, options);
    const remembered = always.get(request.operation);
    if (remembered !== undefined) return remembered;
    if (compareRisk(request.risk, threshold) <= 0) return { type: "allow", by: "risk-threshold" };
    const decision = await inner(request, options);
    if (decision?.type === "allow-always") always.set(request.operation, { ...decision, type: "allow" });
    return decision;
  };
}
