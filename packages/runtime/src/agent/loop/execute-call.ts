import type { CallBatch, ImagePart, JsonObject, Tool } from "@keelson/protocol";
import { Suspension } from "../../session/suspension.ts";
import { dispatchInput, dispatchResult, isDispatchTool, type DispatchTool } from "../../tools/dispatch-tool.ts";
import { executeHeldLeaf, type LeafResult } from "../../tools/execute-leaf.ts";
import { isBackgroundTool, startInBackground } from "../features/children/start-in-background.ts";
import { passOnEffects } from "../features/effects/declare-in-call.ts";
import type { RunningCall } from "../turn/pending-call.ts";
import { endingByHook } from "../features/hooks/halted-by-hook.ts";
import type { CallExecution, SuspendedExecution } from "../turn/call-execution.ts";
import { imageProblem } from "../../providers/media/image-problem.ts";
import { runOf, type Loop } from "../turn/loop.ts";
import { CallBroker } from "./broker/call-broker.ts";
import { leafCall } from "./leaf-call.ts";

/** Time for a call to return after the run was interrupted. A command ends, and an edit finishes, well within that, also on a busy machine. */
const INTERRUPT_GRACE_MS = 10_000;
/** The same of a tool of a server, which this process cannot end. */
const REMOTE_GRACE_MS = 100;

/** Executes a call once. */
export async function executeCall(
  loop: Loop,
  call: RunningCall,
  batch: CallBatch,
  signal: AbortSignal,
): Promise<CallExecution | SuspendedExecution> {
  const { tool } = call;
  if (isDispatchTool(tool)) return dispatch(loop, call, tool);
  if (loop.execution.outside) return { suspended: loop.execution.outside(`the tool ${tool.name}`) };
  const { toolTimeoutMs } = loop.limits;
  const limited = toolTimeoutMs === undefined || tool.timeoutMs !== undefined ? tool : withTimeout(tool, toolTimeoutMs);
  const { interrupting } = loop.execution;
  if (interrupting.aborted) return { output: "Not run: the run was interrupted before this call started.", isError: true };
  const broker = new CallBroker(loop, call);
  const interrupt = (): void => broker.control.end("interrupted", tool.origin === undefined ? INTERRUPT_GRACE_MS : REMOTE_GRACE_MS);
  interrupting.addEventListener("abort", interrupt, { once: true });
  const options = {
    clock: loop.execution.clock,
    blobs: loop.blobs,
    imageProblem: (part: ImagePart) => imageProblem(part, loop.models.resolve(runOf(loop).model).provider.wire),
  };
  const result = await executeHeldLeaf(limited, call.value, leafCall(loop, call, signal, { broker, batch }), options, broker.control);
  interrupting.removeEventListener("abort", interrupt);
  if (result.warning !== undefined) tellWarning(loop, call, result.warning);
  loop.execution.emit({ type: "tool-end", callId: call.part.id });
  const suspended = await broker.close();
  if (suspended !== undefined) return { suspended };
  return broker.ending === undefined ? result : { ...result, ending: broker.ending };
}

function tellWarning(loop: Loop, call: RunningCall, warning: string): void {
  loop.execution.emit({ type: "status", status: `${call.tool.name}: ${warning}`, level: "warn" });
}

/** The run's limit, for a tool that has none of its own. */
function withTimeout(tool: Tool, timeoutMs: number): Tool {
  return Object.create(tool, { timeoutMs: { value: timeoutMs } }) as Tool;
}

/** A child run with its own log. That it failed is told as a failure, with what it had. */
async function dispatch(loop: Loop, call: RunningCall, tool: DispatchTool): Promise<CallExecution | SuspendedExecution> {
  try {
    const result = await startChild(loop, call, tool);
    if (result.warning !== undefined) tellWarning(loop, call, result.warning);
    return result;
  } catch (error) {
    if (error instanceof Suspension) return { suspended: error };
    const ending = endingByHook(error);
    if (ending) return { output: `Not started: ${ending.message}.`, isError: true, ending };
    throw error;
  } finally {
    loop.execution.emit({ type: "tool-end", callId: call.part.id });
  }
}

async function startChild(loop: Loop, call: RunningCall, tool: DispatchTool): Promise<LeafResult> {
  const input = dispatchInput(tool, { input: call.input as JsonObject, value: call.value });
  if (isBackgroundTool(tool)) return startInBackground(loop, call, tool, input);
  const output = await loop.execution.startChild({ key: call.key, operator: tool.dispatch.operator, call: call.part.id, input });
  const result = await dispatchResult(tool, output, { blobs: loop.blobs });
  if (output.effects.length > 0) passOnEffects(loop, call, output.effects);
  return result;
}
