import type { Signal } from "@keelson/protocol";
import { isRecordOf, type RecordData } from "../../../session/record-data.ts";
import type { PendingCall, ReadyCall } from "../../turn/pending-call.ts";
import { runOf, type Loop } from "../../turn/loop.ts";
import { isWaitForSignalTool, type WaitForSignalTool } from "../../definition/signals/wait-for-signal-tool.ts";

/** A call of the open turn that waits. */
export type OpenWait = RecordData["signal-wait"];

/** A call that waits for a signal, not for its tool to be executed. */
export type SignalCall = ReadyCall & { readonly tool: WaitForSignalTool };

export function isSignalCall(call: PendingCall): call is SignalCall {
  return call.state === "ready" && isWaitForSignalTool(call.tool);
}

/**
 * Notes what the waiting calls of a response wait for, and until when, before any call of it starts: what comes while another
 * call runs is theirs already.
 */
export function registerWaits(loop: Loop, calls: readonly PendingCall[]): void {
  const { execution } = loop;
  for (const call of calls) {
    if (!isSignalCall(call) || execution.has(`${call.key}/wait`)) continue;
    const { kinds, timeoutMs } = call.tool.waitsFor;
    const { seconds } = call.value as { readonly seconds?: number };
    const lastsMs = timeoutMs === undefined ? undefined : Math.min(timeoutMs, seconds === undefined ? timeoutMs : seconds * 1000);
    const wait: OpenWait = {
      key: call.key,
      callId: call.part.id,
      ...(kinds && { kinds }),
      ...(lastsMs !== undefined && { until: execution.clock.now() + lastsMs }),
    };
    execution.put(`${call.key}/wait`, "signal-wait", wait);
  }
}

/** Waits of the open turn that are not over, in call order. */
export function openWaits(loop: Loop): readonly OpenWait[] {
  const { execution } = loop;
  const found: OpenWait[] = [];
  for (const record of runOf(loop).open.values()) {
    if (!isRecordOf(record, "signal-wait")) continue;
    const { key } = record.data;
    if (!execution.has(`${key}/signal`) && !execution.has(`${key}/result`)) found.push(record.data);
  }
  return found;
}

/** The call that a signal ends: the first that waits for its kind. */
export function waitFor(waits: readonly OpenWait[], { kind }: Signal): OpenWait | undefined {
  return waits.find(({ kinds }) => kinds === undefined || kinds.includes(kind));
}

/** Gives a signal to the call that waited for it, in the append that says it was read. */
export function giveSignal(loop: Loop, wait: OpenWait, { kind, payload }: Signal): void {
  loop.execution.put(`${wait.key}/signal`, "signal-given", { callId: wait.callId, signal: { kind, payload } }, "power");
}
