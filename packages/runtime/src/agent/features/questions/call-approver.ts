import { AgentError, DECISION_TYPES, LogError, panicError, type ApprovalRequest } from "@keelson/protocol";
import { checkGrantedPatterns } from "../../definition/permissions/granted-rules.ts";
import type { Loop } from "../../turn/loop.ts";
import { checkBudgetAnswer, checkDecisionShape } from "../approvals/check-decision.ts";
import { approvalsOf } from "../approvals/run-approvals.ts";

/** The callback's answer goes the way of everybody's: through the inbox, under the nonce, which takes one decision only. */
export async function callApprover(loop: Loop, nonce: string, request: ApprovalRequest): Promise<void> {
  const decision = await approvalsOf(loop).approver?.(request, { signal: loop.execution.signal });
  if (decision === undefined || decision === null) return;
  if (typeof decision !== "object" || !DECISION_TYPES.includes(decision.type)) {
    throw new AgentError({
      kind: "panic",
      callback: "approvals",
      message: `the approvals callback answered ${JSON.stringify(decision)}: answer with a decision such as { type: "allow" }, or undefined`,
    });
  }
  try {
    checkDecisionShape(decision);
    if (request.budget !== undefined) checkBudgetAnswer(request.budget, decision);
    if (decision.type === "allow-always" && decision.rules !== undefined) checkGrantedPatterns(decision.rules, request.operation);
  } catch (error) {
    throw panicError("approvals", error);
  }
  try {
    await loop.execution.journal.writeInbox(nonce, { type: "decision", callId: request.callId, decision });
  } catch (error) {
    // Somebody else decided first: their word counts.
    if (!LogError.is(error, "conflict")) throw error;
  }
}

/** How the run ends for what the callback threw. */
export function failureOfApprover(error: unknown): AgentError | LogError {
  if (AgentError.is(error) || LogError.is(error)) return error;
  const message = `the approvals callback threw: ${error instanceof Error ? error.message : String(error)}`;
  return new AgentError({ kind: "panic", callback: "approvals", message }, { cause: error });
}
