import type { RecordData } from "../../session/record-data.ts";
import { askPeople, endIfAborted, type Question } from "./ask-approval.ts";
import {
  refuse,
  settleCall,
  startCall,
  toolNameOf,
  type OpenCall,
  type PendingCall,
  type ReadyCall,
  type RunningCall,
  type SettledCall,
} from "../turn/pending-call.ts";
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
export function isUnknown(loop: Loop, call: OpenCall | SettledCall): boolean {
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
 * Starts a call. The reservation of one that changes the world is put into the log before it runs. Idempotent tools that may have
 * run before a crash run again under the same key. Reads have no reservation.
 */
export function reserveCall(loop: Loop, call: ReadyCall): RunningCall {
  const { tool } = call;
  if (tool.effect === "read") return startCall(call, 1);
  const running = startCall(call, countReservations(loop, call) + 1);
  loop.execution.put(
    `${call.key}/reserved/${running.number}`,
    "tool-reserved",
    { callId: call.part.id, tool: tool.name, version: tool.version, effect: tool.effect, idempotencyKey: idempotencyKey(loop, call) },
    tool.effect === "write" ? "power" : undefined,
  );
  return running;
}

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
    else questions.push({ index, call, question: questionAbout(loop, call, found) });
  }
  if (questions.length === 0) return resolved;
  const decisions = await askPeople(
    loop,
    questions.map(({ question }) => question),
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

function questionAbout(loop: Loop, { part, key, tool, input }: ReadyCall, why: string): Question {
  return {
    type: "decision",
    callId: part.id,
    key,
    round: countReservations(loop, { key }),
    tool,
    input,
    reason: `${tool.name} was started, then the process ended before its result was recorded. ${why}Find out whether it took effect: retry runs it again, supply gives its output, fail tells the model that it failed.`,
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

/** Tells watchers that nobody knows whether this call took effect. @returns where that stands in the log */
export function noteUnknown(loop: Loop, call: OpenCall | SettledCall): string {
  const key = `${call.key}/unknown/${countReservations(loop, call)}`;
  loop.execution.put(key, "tool-unknown", { callId: call.part.id, name: toolNameOf(call) });
  return key;
}

/** The call did not take effect, or is to run as if it had not. */
export function noteNotDone(loop: Loop, call: OpenCall | SettledCall): void {
  loop.execution.put(`${call.key}/not-done/${countReservations(loop, call)}`, "tool-not-done", { callId: call.part.id });
}
