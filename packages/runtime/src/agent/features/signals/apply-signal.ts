import type { Message } from "@keelson/protocol";
import type { Loop } from "../../turn/loop.ts";
import { moveBySignal } from "../strategies/enforce-strategy.ts";
import { giveSignal } from "./open-waits.ts";
import type { SignalPlan } from "./plan-signals.ts";

/**
 * Does what was planned about a signal, in the append that says it was read.
 * @param message what the model is told, after the rules had a look at it
 */
export function applySignal(loop: Loop, key: string, { signal, action, wait, state }: SignalPlan, message: Message | undefined): void {
  const { execution } = loop;
  execution.put(`${key}/signal`, "signal", { ...signal, action, ...(wait && { callId: wait.callId }) });
  if (wait) giveSignal(loop, wait, signal);
  if (message) execution.put(key, "steer", { message, interrupt: false });
  if (state === undefined) return;
  const problem = moveBySignal(loop, `${key}/strategy`, state);
  if (problem !== undefined) execution.emit({ type: "status", status: `signal "${signal.kind}": ${problem}`, level: "warn" });
}
