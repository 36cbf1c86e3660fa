import type { JsonObject, Tool } from "@keelson/protocol";
import { Suspension } from "../../session/suspension.ts";
import { dispatchInput, dispatchResult, isDispatchTool, type DispatchTool } from "../../tools/dispatch-tool.ts";
import { resultOfLeaf, type LeafResult } from "../../tools/execute-leaf.ts";
import { isBackgroundTool, startInBackground } from "../features/children/start-in-background.ts";
import { passOnEffects } from "../features/effects/declare-in-call.ts";
import type { PendingCall } from "../turn/pending-call.ts";
import { endingByHook } from "../features/hooks/halted-by-hook.ts";
import type { Execution } from "../turn/call-result.ts";
import { imageProblem } from "../../providers/media/image-problem.ts";
import { runOf, type Loop } from "../turn/loop.ts";
import { leafCall } from "./leaf-call.ts";

/** Runs a call. A promise only where its tool gives one. */
export function executeCall(loop: Loop, call: PendingCall, signal: AbortSignal): Execution | Promise<Execution> {
  const tool = call.tool as NonNullable<PendingCall["tool"]>;
  if (isDispatchTool(tool)) return dispatch(loop, call, tool);
  const { toolTimeoutMs } = loop.limits;
  const limited = toolTimeoutMs === undefined || tool.timeoutMs !== undefined ? tool : withTimeout(tool, toolTimeoutMs);
  const executing = resultOfLeaf(limited, call.value, leafCall(loop, call, call.number, signal), {
    clock: loop.execution.clock,
    blobs: loop.blobs,
    ownsCall: true,
    imageProblem: (part) => imageProblem(part, loop.models.resolve(runOf(loop).model).provider.wire),
  });
  return executing instanceof Promise ? executing.then((result) => tellEnd(loop, call, result)) : tellEnd(loop, call, executing);
}

function tellEnd(loop: Loop, call: PendingCall, result: Execution): Execution {
  if (result.warning !== undefined) tellWarning(loop, call, result.warning);
  loop.execution.emit({ type: "tool-end", callId: call.part.id });
  return result;
}

function tellWarning(loop: Loop, call: PendingCall, warning: string): void {
  loop.execution.emit({ type: "status", status: `${call.tool?.name ?? call.part.name}: ${warning}`, level: "warn" });
}

/** The run's limit, for a tool that has none of its own. */
function withTimeout(tool: Tool, timeoutMs: number): Tool {
  return Object.create(tool, { timeoutMs: { value: timeoutMs } }) as Tool;
}

/** A child run with its own log. That it failed is told as a failure, with what it had. */
async function dispatch(loop: Loop, call: PendingCall, tool: DispatchTool): Promise<Execution> {
  try {
    const result = await startChild(loop, call, tool);
    if (result.warning !== undefined) tellWarning(loop, call, result.warning);
    return result;
  } catch (error) {
    if (error instanceof Suspension) return { output: "", isError: true, suspended: error };
    const ending = endingByHook(error);
    if (ending) return { output: `Not started: ${ending.message}.`, isError: true, ending };
    throw error;
  } finally {
    loop.execution.emit({ type: "tool-end", callId: call.part.id });
  }
}

async function startChild(loop: Loop, call: PendingCall, tool: DispatchTool): Promise<LeafResult> {
  const input = dispatchInput(tool, { input: call.input as JsonObject, value: call.value });
  if (isBackgroundTool(tool)) return startInBackground(loop, call, tool, input);
  const output = await loop.execution.startChild({ key: call.key, operator: tool.dispatch.operator, call: call.part.id, input });
  const result = await dispatchResult(tool, output, { blobs: loop.blobs });
  if (output.effects.length > 0) passOnEffects(loop, call, output.effects);
  return result;
}
