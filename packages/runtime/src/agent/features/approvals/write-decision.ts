import { AgentError, inboxLog, LogError, type Decision } from "@keelson/protocol";
import { foldSession } from "../../../session/fold-session.ts";
import { inboxRecord } from "../../../session/inbox-record.ts";
import type { RunnerServices } from "../../turn/runner-services.ts";
import { wakeSession } from "../../turn/wake-session.ts";
import type { ApprovalClaims } from "./approval-token.ts";
import { checkDecision } from "./check-decision.ts";

/**
 * Puts the answer to a question into the inbox of the run that asked it.
 * Rejects with AgentError `invalid-token` where it was answered already, or nobody asks it any more.
 * @param decidedAs makes two decisions differ, so that the second is refused; the same again is a repetition of the first
 */
export async function writeDecision(
  services: RunnerServices,
  claims: ApprovalClaims,
  decision: Decision,
  decidedAs: string = services.newId(),
): Promise<void> {
  const { log, blobs } = services;
  const { session, runId, nonce, callId, tool } = claims;
  const state = await foldSession(log, blobs, session);
  for await (const entry of log.read(inboxLog(session))) {
    if (entry.key !== nonce) continue;
    if (entry.data["decidedAs"] !== decidedAs) throw usedBefore(tool);
    return wakeSession(services, session);
  }
  if (state.run?.id !== runId || state.run.status === "ended") throw mismatch(`The run that asked about ${tool} is over.`);
  const question = state.run.questions.get(nonce);
  if (question === undefined) throw mismatch(`The run no longer asks this question about ${tool}.`);
  await checkDecision(question, decision);
  try {
    const record = inboxRecord(nonce, { type: "decision", callId, decision });
    const own = { ...record, data: { ...record.data, decidedAs } };
    await log.append(inboxLog(session), "any", [own], { durability: services.durability ?? "power" });
  } catch (error) {
    if (LogError.is(error, "conflict")) throw usedBefore(tool);
    throw error;
  }
  await wakeSession(services, session);
}

function usedBefore(tool: string): AgentError {
  return new AgentError({ kind: "invalid-token", reason: "used", message: `This approval token for ${tool} was used already.` });
}

function mismatch(message: string): AgentError {
  return new AgentError({ kind: "invalid-token", reason: "mismatch", message });
}
