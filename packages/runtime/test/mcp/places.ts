import type { OpenToolSource, RunId, SessionId, Tool, ToolCall, ToolOutput, ToolSourcePlace } from "@keelson/protocol";
import { createToolCall } from "keelson/tools";

/** Where a run opens a source. */
export function place(more: Partial<ToolSourcePlace> = {}): ToolSourcePlace {
  return { runId: "r" as RunId, session: "s" as SessionId, agent: "a", signal: new AbortController().signal, ...more };
}

export function toolOf(source: OpenToolSource, name: string): Tool {
  const found = source.tools().find((tool) => tool.name === name);
  if (found === undefined)
    throw new Error(
      `no ${name} among ${source
        .tools()
        .map((tool) => tool.name)
        .join(", ")}`,
    );
  return found;
}

/** Calls a tool of a source as a run does. */
export async function call(source: OpenToolSource, name: string, input: object = {}, more: Partial<ToolCall> = {}): Promise<ToolOutput> {
  return toolOf(source, name).execute(input, createToolCall({ session: "s" as SessionId, idempotencyKey: "k", ...more }));
}
