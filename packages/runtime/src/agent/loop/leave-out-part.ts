import type { ModelFailure } from "@keelson/protocol";
import { leaveOutRefused } from "../../context/refused/leave-out-refused.ts";
import { runOf, sessionOf, type Loop } from "../turn/loop.ts";

/** So many parts are left out one by one; then all that look like them, then no more. */
const MOST_SINGLE = 4;

/**
 * Leaves out of the conversation what the vendor refused a request for, with a note in its place. Recorded, so that a replay and
 * every later request have the same.
 * @param before how often that was done in this turn
 * @returns false where he refused something else, or it did not help
 */
export function leaveOutPart(loop: Loop, key: string, failure: ModelFailure, before: number): boolean {
  const { execution, context, models } = loop;
  if (failure.kind !== "invalid-request" || before > MOST_SINGLE) return false;
  if (execution.has(`${key}/left-out`)) return true;
  const { wire } = models.resolve(runOf(loop).model).provider;
  const left = leaveOutRefused(context.messages, failure, wire, before === MOST_SINGLE);
  if (left === undefined) return false;
  const policies = context.messages.map((_, index) => context.conversation.policyAt(index));
  execution.put(`${key}/left-out`, "compaction", {
    summary: left.summary,
    messagesBefore: context.messages.length,
    messages: left.messages,
    ...(policies.some((policy) => policy !== "normal") && { policies }),
    level: "refused",
    ...(sessionOf(loop).request !== undefined && { request: sessionOf(loop).request }),
  });
  return true;
}
