import type { RecordData } from "../../session/record-data.ts";
import type { Loop } from "../turn/loop.ts";
import {
  startCall,
  toolNameOf,
  type OpenCall,
  type PendingCall,
  type ReadyCall,
  type RunningCall,
  type SettledCall,
} from "../turn/pending-call.ts";
import { noteVersion } from "../features/tool-sources/known-version.ts";
import { idempotencyKey } from "./idempotency-key.ts";

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
  const effect = call.state === "settled" ? call.tool?.effect : call.effect;
  return effect === "write" || lastReservation(loop, call)?.effect === "write";
}

/** True if an interrupt cut this call off, and its tool did not say what became of it. */
export function wasInterrupted(loop: Loop, call: Pick<PendingCall, "key">): boolean {
  return loop.execution.lookup(unknownKey(loop, call), "tool-unknown")?.data.interrupted === true;
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
 * run before a crash run again under the same key. Reads have no reservation, nor have calls that are known to change nothing: the log says by that
 * what was known of them when they ran.
 */
export function reserveCall(loop: Loop, call: ReadyCall): RunningCall {
  noteVersion(loop, call);
  if (call.effect === "read") return startCall(call, countSuspensions(loop, call) + 1);
  const running = startCall(call, countReservations(loop, call) + 1);
  putReservation(loop, call, running.number);
  return running;
}

/** A write of which the log says that it did nothing so far, and that goes on. Resolves when that is in the log. */
export async function reserveAgain(loop: Loop, call: RunningCall): Promise<void> {
  putReservation(loop, call, countReservations(loop, call) + 1);
  await loop.execution.flush();
}

function putReservation(loop: Loop, call: ReadyCall | RunningCall, number: number): void {
  const { tool } = call;
  loop.execution.put(
    `${call.key}/reserved/${number}`,
    "tool-reserved",
    { callId: call.part.id, tool: tool.name, version: tool.version, effect: call.effect, idempotencyKey: idempotencyKey(loop, call) },
    call.effect === "write" ? "power" : undefined,
  );
}

/** How often this call was ended for a question, to be made again. */
function countSuspensions(loop: Loop, { key }: Pick<PendingCall, "key">): number {
  let count = 0;
  while (loop.execution.has(`${key}/suspended/${count + 1}`)) count++;
  return count;
}

/** Tells watchers that nobody knows whether this call took effect. @returns where that stands in the log */
export function noteUnknown(loop: Loop, call: PendingCall, { interrupted = false }: { readonly interrupted?: boolean } = {}): string {
  const key = unknownKey(loop, call);
  if (!loop.execution.has(key))
    loop.execution.put(key, "tool-unknown", { callId: call.part.id, name: toolNameOf(call), ...(interrupted && { interrupted }) });
  return key;
}

function unknownKey(loop: Loop, call: Pick<PendingCall, "key">): string {
  return `${call.key}/unknown/${countReservations(loop, call)}`;
}

/** The call did not take effect, or is to run as if it had not. */
export function noteNotDone(loop: Loop, call: PendingCall): void {
  loop.execution.put(`${call.key}/not-done/${countReservations(loop, call)}`, "tool-not-done", { callId: call.part.id });
}
