import type { Decision, Wait } from "@keelson/protocol";
import { runOf, sessionOf, type Loop } from "../../turn/loop.ts";
import { checkEnding, RunEnding } from "../../turn/run-ending.ts";
import { whoseQuestion } from "../approvals/list-questions.ts";
import { decisionOn, publishQuestion, type Published, type Question } from "./publish-question.ts";
import { waitForDecisions, type DecisionWait } from "./wait-for-decisions.ts";

/**
 * Asks people and returns what they decided, in the order of the questions. Questions and decisions are records: after a
 * crash nobody is asked twice. Whoever can answer in this process is waited for; else the run suspends with all questions.
 */
export async function askPeople(
  loop: Loop,
  questions: readonly Question[],
  { afterStop = false }: Pick<DecisionWait, "afterStop"> = {},
): Promise<readonly Decision[]> {
  const asked = questions.map((question) => publishQuestion(loop, question));
  if ((await waitForDecisions(loop, asked, { afterStop })) !== "decided") {
    if (!afterStop || isAborted(loop)) checkEnding(loop);
    const waits = openWaits(loop, asked);
    loop.execution.suspend(waits.some((wait) => wait.type === "decision") ? "awaiting-decision" : "awaiting-approval", waits);
  }
  return asked.map((request) => decisionOn(loop, request.nonce) as Decision);
}

/** Of these questions those that nobody has decided, as what the run waits for. */
export function openWaits(loop: Loop, asked: readonly Published[]): readonly Wait[] {
  const whose = whoseQuestion(sessionOf(loop).id, loop.execution.runId);
  return asked.filter(({ nonce }) => isOpen(loop, nonce)).map(({ nonce: _nonce, ...request }): Wait => ({ ...request, ...whose }));
}

function isAborted(loop: Loop): boolean {
  return loop.attempts.runAborted || runOf(loop).stopping === "abort";
}

/** One that was given up is not. */
function isOpen(loop: Loop, nonce: string): boolean {
  const question = runOf(loop).questions.get(nonce);
  return question !== undefined && question.decision === undefined;
}

/** Ends the whole run where a person said so. */
export function endIfAborted(decision: Decision): void {
  if (decision.type === "abort") throw abortedBy(decision);
}

export function abortedBy({ reason }: Extract<Decision, { readonly type: "abort" }>): RunEnding {
  return new RunEnding("aborted", reason === undefined ? {} : { why: reason });
}
