import type { OperatorInput } from "@keelson/protocol";
import type { DispatchTool } from "../../../tools/dispatch-tool.ts";
import type { LeafResult } from "../../../tools/execute-leaf.ts";
import type { RunningCall } from "../../turn/pending-call.ts";
import type { Loop } from "../../turn/loop.ts";
import { spawnConfigOf } from "./spawn-config.ts";
import { backgroundOf } from "./background.ts";

/** Whether calls of this tool have their result at once, which says that its agent is at work. */
export function isBackgroundTool(tool: DispatchTool): boolean {
  return "background" in tool && tool.background === true;
}

export async function startInBackground(loop: Loop, call: RunningCall, tool: DispatchTool, input: OperatorInput): Promise<LeafResult> {
  const background = backgroundOf(loop);
  if (background === undefined) return { output: `"${tool.name}" can't be started here: only a runner can.`, isError: true };
  const { operator } = tool.dispatch;
  const task = input.message.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  const config = spawnConfigOf(operator, input.config ?? {}, task);
  const id = await background.spawnAgent(call.key, tool.name, config, call.part.id);
  return { output: `Started as ${id}. Go on meanwhile: its result will follow as a message.`, isError: false };
}
