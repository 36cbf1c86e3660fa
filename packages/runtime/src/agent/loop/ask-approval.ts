import {
  AgentError,
  DECISION_TYPES,
  LogError,
  panicError,
  type AlwaysChoice,
  type ApprovalRequest,
  type Decision,
  type JsonValue,
  type Tool,
  type Wait,
} from "@keelson/protocol";
import { digestOf, shortHash } from "../../json/digest.ts";
import { whoseQuestion } from "../features/approvals/list-questions.ts";
import { notifyOfQuestion } from "../features/hooks/notification-hooks.ts";
import { checkGrantedPatterns } from "../definition/permissions/granted-rules.ts";
import { runOf, sessionOf, type Loop } from "../turn/loop.ts";
import { checkEnding, RunEnding } from "../turn/run-ending.ts";
import { approvalsOf } from "../features/approvals/run-approvals.ts";
import { hooksOf } from "../features/hooks/loop-hooks.ts";

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
  /** What whoever answers may allow for good. */
  readonly always?: readonly AlwaysChoice[];
}

/**
 * Asks people and returns what they decided, in the order of the questions. Questions and decisions are records: after a
 * crash nobody is asked twice. Whoever can answer in this process is waited for; else the run suspends with all questions.
 */
export async function askPeople(loop: Loop, questions: readonly Question[]): Promise<readonly Decision[]> {
  const asked = questions.map((question) => publish(loop, question));
  await loop.execution.flush();
  await loop.readInbox();
  const open = asked.filter((request) => decisionOn(loop, request.nonce) === undefined);
  if (open.length > 0) {
    if (hooksOf(loop) !== undefined) for (const request of open) notifyOfQuestion(loop, request);
    await waitForDecisions(loop, asked);
  }
  return asked.map((request) => decisionOn(loop, request.nonce) as Decision);
}

type Published = ApprovalRequest & { readonly nonce: string };

function publish(loop: Loop, question: Question): Published {
  const { execution } = loop;
  const approvals = approvalsOf(loop);
  const session = sessionOf(loop);
  const argumentsDigest = digestOf(question.input);
  // A tool or arguments that changed since make another question: the answer to the old one is not used.
  const place = `${question.key}/question/${question.type}/${question.round}/${shortHash(`${question.tool.version}/${argumentsDigest}`, 8)}`;
  let key = place;
  for (let issue = 2; ; issue++) {
    const existing = execution.lookup(key, "approval-request");
    if (existing === undefined) break;
    const { question: type, ...rest } = existing.data;
    // A token that nobody used in its time, or whose key ended with the process that had it, is replaced by another for the same decision.
    const isUsable = rest.expiresAt >= session.at && approvals.tokens.isOurs(rest.token);
    if (isUsable || decisionOn(loop, rest.nonce) !== undefined) return { ...rest, type };
    key = `${place}/issue/${issue}`;
  }
  const { tool, input, callId } = question;
  // From recorded time alone, so that a replay before the append would issue the same token.
  const expiresAt = session.at + approvals.ttlMs;
  const token = approvals.tokens.issue({
    runId: execution.runId,
    session: session.id,
    callId,
    tool: tool.name,
    toolVersion: tool.version,
    argumentsDigest,
    question: question.type,
    attempt: question.round,
    expiresAt,
  });
  const { nonce } = approvals.tokens.verify(token, { expired: true });
  const request: Published = {
    type: question.type,
    callId,
    nonce,
    token,
    operation: tool.name,
    description: tool.description,
    risk: tool.risk,
    input,
    reason: question.reason,
    expiresAt,
    ...(question.always && { always: question.always }),
  };
  const { type, ...rest } = request;
  execution.put(key, "approval-request", { question: type, ...rest });
  return request;
}

function decisionOn(loop: Loop, nonce: string): Decision | undefined {
  return runOf(loop).questions.get(nonce)?.decision;
}

/** Waits for whoever can answer in this process, the callback or the takers of `run.approvals()`, for so long at most; then the run suspends. */
async function waitForDecisions(loop: Loop, asked: readonly Published[]): Promise<void> {
  const { execution } = loop;
  const approvals = approvalsOf(loop);
  const { approver } = approvals;
  const open = (): readonly Published[] => asked.filter((request) => decisionOn(loop, request.nonce) === undefined);
  const alarm = createAlarm();
  let failure: AgentError | LogError | undefined;
  let callbacks = 0;
  let patient = approvals.watched;
  const cleanups = [execution.journal.onInbox(alarm.ring)];
  for (const signal of [execution.signal, execution.stopping]) {
    signal.addEventListener("abort", alarm.ring, { once: true });
    cleanups.push(() => signal.removeEventListener("abort", alarm.ring));
  }
  try {
    for (const { nonce, ...request } of open()) {
      approvals.ask(request);
      if (!approver) continue;
      callbacks++;
      void callApprover(loop, nonce, request)
        .catch((error: unknown) => {
          failure ??=
            AgentError.is(error) || LogError.is(error)
              ? error
              : new AgentError(
                  {
                    kind: "panic",
                    callback: "approvals",
                    message: `the approvals callback threw: ${error instanceof Error ? error.message : String(error)}`,
                  },
                  { cause: error },
                );
        })
        .finally(() => {
          callbacks--;
          alarm.ring();
        });
    }
    if (callbacks > 0 || patient) {
      cleanups.push(
        execution.clock.after(approvals.waitMs, () => {
          patient = false;
          callbacks = 0;
          alarm.ring();
        }),
      );
    }
    for (;;) {
      // Whatever comes from here on rings again, so that nothing slips in between looking and waiting.
      const rung = alarm.next();
      const last = callbacks <= 0 && !patient;
      await loop.readInbox();
      if (failure) throw failure;
      if (open().length === 0) return;
      checkEnding(loop);
      if (last) break;
      await rung;
    }
  } finally {
    for (const cleanup of cleanups) cleanup();
  }
  const whose = whoseQuestion(sessionOf(loop).id, execution.runId);
  const waits = open().map(({ nonce: _nonce, ...request }): Wait => ({ ...request, ...whose }));
  execution.suspend(waits.some((wait) => wait.type === "decision") ? "awaiting-decision" : "awaiting-approval", waits);
}

/** Wakes whoever waits for it; a ring that nobody waits for yet is not lost. */
function createAlarm(): { ring(): void; next(): Promise<void> } {
  let ring = (): void => {};
  return {
    ring: () => ring(),
    next: () =>
      new Promise((resolve) => {
        ring = resolve;
      }),
  };
}

/** The callback's answer goes the way of everybody's: through the inbox, under the nonce, which takes one decision only. */
async function callApprover(loop: Loop, nonce: string, request: ApprovalRequest): Promise<void> {
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

/** Ends the whole run where a person said so. */
export function endIfAborted(decision: Decision): void {
  if (decision.type === "abort") throw new RunEnding("aborted", decision.reason === undefined ? {} : { why: decision.reason });
}
