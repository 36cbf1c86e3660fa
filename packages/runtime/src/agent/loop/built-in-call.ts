import type { ReadyCall, SettledCall } from "../turn/pending-call.ts";
import { awaitSignal } from "../features/signals/await-signal.ts";
import { isSignalCall } from "../features/signals/open-waits.ts";
import { isWaitForSignalTool } from "../definition/signals/wait-for-signal-tool.ts";
import { runTransition } from "../features/strategies/enforce-strategy.ts";
import { isTransitionTool } from "../definition/strategies/transition-tool.ts";
import { isSearchTool } from "../definition/tool-sources/search-tool.ts";
import { searchTools } from "../features/tool-sources/search-tools.ts";
import type { Loop } from "../turn/loop.ts";

/** Whether the loop itself runs the call: no tool is executed. Such a call is alone in its batch. */
export function isBuiltInCall({ tool }: ReadyCall): boolean {
  return isTransitionTool(tool) || isWaitForSignalTool(tool) || isSearchTool(tool);
}

export async function runBuiltInCall(loop: Loop, call: ReadyCall): Promise<ReadyCall | SettledCall> {
  if (isSearchTool(call.tool)) return searchTools(loop, call);
  return isSignalCall(call) ? awaitSignal(loop, call) : runTransition(loop, call);
}
