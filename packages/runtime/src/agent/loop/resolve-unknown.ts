import { askPeople, endIfAborted } from "../features/questions/ask-people.ts";
import type { Question } from "../features/questions/publish-question.ts";
import { refuse, settleCall, startCall, type FittingCall, type ReadyCall, type SettledCall } from "../turn/pending-call.ts";
import { describeThrown } from "../../tools/describe-thrown.ts";
import type { Loop } from "../turn/loop.ts";
import { countReservations, noteNotDone, noteUnknown, wasInterrupted } from "./tool-call-ledger.ts";
import { leafCall } from "./leaf-call.ts";

/**
 * Nobody knows whether these writes happened. Their tools are asked; then the people, about all that are left at once.
 * @returns how each of them goes on, in their order
 */
export async function resolveUnknown(loop: Loop, calls: readonly ReadyCall[]): Promise<readonly (ReadyCall | SettledCall)[]> {
  const resolved: (ReadyCall | SettledCall)[] = [...calls];
  const questions: { readonly index: number; readonly call: ReadyCall; readonly question: Question }[] = [];
  for (const [index, call] of calls.entries()) {
    const found = await reconcile(loop, call);
    if (typeof found === "object") resolved[index] = found;
    else questions.push({ index, call, question: unknownQuestion(loop, call, found) });
  }
  if (questions.length === 0) return resolved;
  const decisions = await askPeople(
    loop,
    questions.map(({ question }) => question),
    { afterStop: questions.some(({ call }) => wasInterrupted(loop, call)) },
  );
  for (const [asked, decision] of decisions.entries()) {
    const { index, call } = questions[asked] as (typeof questions)[number];
    endIfAborted(decision);
    if (decision.type === "retry") noteNotDone(loop, call);
    else if (decision.type === "supply") resolved[index] = settleCall(call, "ran", { output: decision.output, isError: false });
    else
      resolved[index] = refuse(
        call,
        `This call was interrupted and counts as failed${"reason" in decision && decision.reason ? `: ${decision.reason}` : ""}. It may have taken effect: look before you repeat it.`,
        "given-up",
      );
  }
  return resolved;
}

/** @param why more to say to people, with a blank behind it; "" if there is nothing */
export function unknownQuestion(loop: Loop, { part, key, tool, input }: FittingCall, why: string): Question {
  const broke = wasInterrupted(loop, { key })
    ? "the run was interrupted before it said what it did"
    : "the process ended before its result was recorded";
  return {
    type: "decision",
    callId: part.id,
    key,
    round: countReservations(loop, { key }),
    tool,
    input,
    reason: `${tool.name} was started, then ${broke}. ${why}Find out whether it took effect: retry runs it again, supply gives its output, fail tells the model that it failed.`,
  };
}

/** Asks the tool what became of the call. @returns the call as it goes on, or what else there is to say to the people who must decide */
async function reconcile(loop: Loop, call: ReadyCall): Promise<ReadyCall | SettledCall | string> {
  const { execution } = loop;
  const { tool } = call;
  const started = startCall(call, countReservations(loop, call));
  const key = noteUnknown(loop, call);
  if (tool.reconcile === undefined) return "";
  const found = await execution.decide(`${key}/reconcile`, async () => {
    try {
      return (await tool.reconcile?.(call.value, leafCall(loop, started, execution.signal))) ?? "unknown";
    } catch (error) {
      return { failed: describeThrown(error) };
    }
  });
  if (found === "not-done") {
    noteNotDone(loop, call);
    return call;
  }
  if (found === "unknown") return "";
  if ("failed" in found) return `Its own check failed (${found.failed}). `;
  return settleCall(call, "ran", { output: found.output, isError: false });
}
