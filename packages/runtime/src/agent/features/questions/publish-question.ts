import type { AlwaysChoice, ApprovalRequest, AskedBudget, AskedPart, AskedQuestion, Decision, JsonValue, Tool } from "@keelson/protocol";
import { digestOf, shortHash } from "../../../json/digest.ts";
import { runOf, sessionOf, type Loop } from "../../turn/loop.ts";
import { approvalsOf } from "../approvals/run-approvals.ts";

/** A question about one call, and where its answer is used. */
export interface Question {
  readonly type: ApprovalRequest["type"];
  readonly callId: ApprovalRequest["callId"];
  /** Place in the log, with the round: edited arguments are asked about again. */
  readonly key: string;
  readonly round: number;
  readonly tool: Pick<Tool, "name" | "description" | "risk" | "version">;
  readonly input: JsonValue;
  readonly reason: string;
  readonly summary?: string;
  readonly parts?: readonly AskedPart[];
  /** What whoever answers may allow for good. */
  readonly always?: readonly AlwaysChoice[];
  /** What the call asks while it runs. */
  readonly asked?: AskedQuestion;
  /** The limit of the run that is met, where no call asks. */
  readonly budget?: AskedBudget;
  /** What the answer is bound to beside the input. */
  readonly bound?: JsonValue;
}

/** A question as the log has it. Its nonce is the key under which the inbox takes the one decision. */
export type Published = ApprovalRequest & { readonly nonce: string };

/** Puts a question into the log, or finds it there: a question that is asked again has the token that it had. */
export function publishQuestion(loop: Loop, question: Question): Published {
  const { execution } = loop;
  const approvals = approvalsOf(loop);
  const session = sessionOf(loop);
  const { type, tool, input, callId, round, reason, summary, parts, always, asked, budget, bound } = question;
  const argumentsDigest = digestOf(bound === undefined ? input : [input, bound]);
  // A tool or arguments that changed since make another question: the answer to the old one is not used.
  const place = `${question.key}/question/${type}/${round}/${shortHash(`${tool.version}/${argumentsDigest}`, 8)}`;
  let key = place;
  for (let issue = 2; ; issue++) {
    const existing = execution.lookup(key, "approval-request");
    if (existing === undefined) break;
    const { question: kind, ...rest } = existing.data;
    // A token that nobody used in its time, or whose key ended with the process that had it, is replaced by another for the same
    // decision; and so is one of a question that was given up.
    const isUsable = rest.expiresAt >= session.at && approvals.tokens.isOurs(rest.token) && runOf(loop).questions.has(rest.nonce);
    if (isUsable || decisionOn(loop, rest.nonce) !== undefined) return { ...rest, type: kind };
    key = `${place}/issue/${issue}`;
  }
  // From recorded time alone, so that a replay before the append would issue the same token.
  const expiresAt = session.at + approvals.ttlMs;
  const token = approvals.tokens.issue({
    runId: execution.runId,
    session: session.id,
    callId,
    tool: tool.name,
    toolVersion: tool.version,
    argumentsDigest,
    question: type,
    attempt: round,
    place,
    expiresAt,
  });
  const { nonce } = approvals.tokens.verify(token, { expired: true });
  const request = {
    callId,
    nonce,
    token,
    operation: tool.name,
    description: tool.description,
    risk: tool.risk,
    input,
    reason,
    ...(summary !== undefined && { summary }),
    ...(parts !== undefined && { parts }),
    expiresAt,
    ...(always && { always }),
    ...(asked && { asked }),
    ...(budget && { budget }),
  };
  execution.put(key, "approval-request", { question: type, ...request });
  return { ...request, type };
}

export function decisionOn(loop: Loop, nonce: string): Decision | undefined {
  return runOf(loop).questions.get(nonce)?.decision;
}

/** Nobody waits for the answer any more: whoever gives one now is told so. */
export function closeQuestion({ execution }: Loop, nonce: string): void {
  let time = 1;
  while (execution.has(`closed/${nonce}/${time}`)) time++;
  execution.put(`closed/${nonce}/${time}`, "question-closed", { nonce });
}
