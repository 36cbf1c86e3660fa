import { AgentError, LogError, type ApprovalRequest, type Decision, type InboxMessage } from "@keelson/protocol";
import type { Journal } from "../../../session/journal.ts";
import { agentErrorOf } from "../../../session/log-failure.ts";
import type { SessionState } from "../../../session/session-state.ts";
import type { Loop } from "../../turn/loop.ts";
import { checkDecision } from "./check-decision.ts";
import { approvalsOf } from "./run-approvals.ts";

/** Whether a run still waits for the answer to its question. @param state of its session, while the run is its newest */
export function isOpenQuestion(state: SessionState | undefined, token: string): boolean {
  const { run } = state ?? {};
  if (run === undefined || run.status === "ended") return false;
  for (const question of run.questions.values()) if (question.token === token) return question.decision === undefined;
  return false;
}

/**
 * Puts the answer of somebody in this process into the inbox of the run that asked.
 * Rejects with AgentError `invalid-token` where the question was decided already.
 */
export async function decideHere(
  loop: Loop,
  journal: Journal,
  { request, decision, newId }: { readonly request: ApprovalRequest; readonly decision: Decision; newId(): string },
): Promise<void> {
  const { operation, callId, token } = request;
  await checkDecision(request, decision);
  const { nonce } = approvalsOf(loop).tokens.verify(token);
  if (journal.state.run?.questions.has(nonce) !== true) {
    const message = `The run no longer asks this question about ${operation}.`;
    throw new AgentError({ kind: "invalid-token", reason: "mismatch", message });
  }
  try {
    // `decidedAs` makes two decisions differ, so that the second is a conflict and not a repetition.
    await journal.writeInbox(nonce, { type: "decision", callId, decision, decidedAs: newId() } as InboxMessage);
  } catch (error) {
    if (!LogError.is(error, "conflict")) throw agentErrorOf(loop.execution.session, error);
    const message = `This question about ${operation} was decided already.`;
    throw new AgentError({ kind: "invalid-token", reason: "used", message }, { cause: error });
  }
}
