import type { PendingCall } from "../turn/pending-call.ts";
import { awaitSignal } from "../features/signals/await-signal.ts";
import { isWaiting } from "../features/signals/open-waits.ts";
import { isWaitForSignalTool } from "../definition/signals/wait-for-signal-tool.ts";
import { runTransition } from "../features/strategies/enforce-strategy.ts";
import { isTransitionTool } from "../definition/strategies/transition-tool.ts";
import type { Loop } from "../turn/loop.ts";

/** Whether the loop itself runs the call: no tool is executed. Such a call is alone in its batch. */
export function isBuiltInCall(call: PendingCall): boolean {
  return call.answer === undefined && call.tool !== undefined && (isTransitionTool(call.tool) || isWaitForSignalTool(call.tool));
}

export async function runBuiltInCall(loop: Loop, call: PendingCall): Promise<void> {
  if (isWaiting(call)) await awaitSignal(loop, call);
  else runTransition(loop, call);
}
