import type { RecordData } from "../../session/record-data.ts";
import type { PendingCall } from "../turn/pending-call.ts";
import { askPeople, endIfAborted, type Question } from "./ask-approval.ts";
import { refuse } from "../turn/pending-call.ts";
import { describeThrown } from "../../tools/describe-thrown.ts";
import type { Loop } from "../turn/loop.ts";
import { idempotencyKey, leafCall } from "./leaf-call.ts";

/** Whether the log holds a reservation of this call that nothing followed: the process ended between the two. */
export function mayHaveRun(loop: Loop, call: Pick<PendingCall, "key">): boolean {
  const reservations = countReservations(loop, call);
  return reservations > 0 && !loop.execution.has(`${call.key}/not-done/${reservations}`);
}

/**
 * Whether nobody knows if this call took effect: it may have run, as a write. What it was when it was reserved counts as
 * well as what it is now, since the definition may have changed in between.
 */
export function isUnknown(loop: Loop, call: PendingCall): boolean {
  if (!mayHaveRun(loop, call)) return false;
  return call.tool?.effect === "write" || lastReservation(loop, call)?.effect === "write";
}

/** What the log says of the call when it was last about to run. */
export function lastReservation(loop: Loop, call: Pick<PendingCall, "key">): RecordData["tool-reserved"] | undefined {
  return loop.execution.lookup(`${call.key}/reserved/${countReservations(loop, call)}`, "tool-reserved")?.data;
}

/** How often the log says that this call was about to run. */
export function countReservations(loop: Loop, { key }: Pick<PendingCall, "key">): number {
  let count = 0;
  while (loop.execution.has(`${key}/reserved/${count + 1}`)) count++;
  return count;
}

/**
 * Puts the reservation of a call that changes the world into the log before it runs. Idempotent tools that may have run
 * before a crash run again under the same key. Reads have none.
 */
export function reserveCall(loop: Loop, call: PendingCall): void {
  const tool = call.tool as NonNullable<PendingCall["tool"]>;
  call.number = countReservations(loop, call) + 1;
  loop.execution.put(
    `${call.key}/reserved/${call.number}`,
    "tool-reserved",
    { callId: call.part.id, tool: tool.name, version: tool.version, effect: tool.effect, idempotencyKey: idempotencyKey(loop, call) },
    tool.effect === "write" ? "power" : undefined,
  );
}

/** Nobody knows whether these writes happened. Their tools are asked; then the people, about all that are left at once. */
export async function resolveUnknown(loop: Loop, calls: readonly PendingCall[]): Promise<void> {
  const questions: { readonly call: PendingCall; readonly question: Question }[] = [];
  for (const call of calls) {
    const why = await reconcile(loop, call);
    if (why === undefined) continue;
    const tool = call.tool as NonNullable<PendingCall["tool"]>;
    questions.push({
      call,
      question: {
        type: "decision",
        callId: call.part.id,
        key: call.key,
        round: countReservations(loop, call),
        tool,
        input: call.input ?? null,
        reason: `${tool.name} was started, then the process ended before its result was recorded. ${why}Find out whether it took effect: retry runs it again, supply gives its output, fail tells the model that it failed.`,
      },
    });
  }
  if (questions.length === 0) return;
  const decisions = await askPeople(
    loop,
    questions.map(({ question }) => question),
  );
  for (const [index, decision] of decisions.entries()) {
    const { call } = questions[index] as (typeof questions)[number];
    endIfAborted(decision);
    if (decision.type === "retry") noteNotDone(loop, call);
    else if (decision.type === "supply") {
      call.answer = { output: decision.output, isError: false };
      call.ran = true;
    } else
      refuse(
        call,
        `This call was interrupted and counts as failed${"reason" in decision && decision.reason ? `: ${decision.reason}` : ""}. It may have taken effect: look before you repeat it.`,
      );
  }
}

/** Asks the tool what became of the call. @returns what else there is to say to the people who must decide; nothing when it is settled */
async function reconcile(loop: Loop, call: PendingCall): Promise<string | undefined> {
  const { execution } = loop;
  const tool = call.tool as NonNullable<PendingCall["tool"]>;
  const number = countReservations(loop, call);
  const key = noteUnknown(loop, call);
  if (tool.reconcile === undefined) return "";
  const found = await execution.decide(`${key}/reconcile`, async () => {
    try {
      return (await tool.reconcile?.(call.value, leafCall(loop, call, number, execution.signal))) ?? "unknown";
    } catch (error) {
      return { failed: describeThrown(error) };
    }
  });
  if (found === "not-done") return noteNotDone(loop, call);
  if (found === "unknown") return "";
  if ("failed" in found) return `Its own check failed (${found.failed}). `;
  call.answer = { output: found.output, isError: false };
  call.ran = true;
}

/** Tells watchers that nobody knows whether this call took effect. @returns where that stands in the log */
export function noteUnknown(loop: Loop, call: PendingCall): string {
  const key = `${call.key}/unknown/${countReservations(loop, call)}`;
  loop.execution.put(key, "tool-unknown", { callId: call.part.id, name: call.tool?.name ?? call.part.name });
  return key;
}

/** The call did not take effect, or is to run as if it had not. */
export function noteNotDone(loop: Loop, call: PendingCall): undefined {
  loop.execution.put(`${call.key}/not-done/${countReservations(loop, call)}`, "tool-not-done", { callId: call.part.id });
}
