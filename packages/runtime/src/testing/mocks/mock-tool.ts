import type { JsonValue, Tool, ToolCall, ToolOutput } from "@keelson/protocol";
import { defineTool } from "../../tools/define-tool.ts";
import type { ToolDefinition } from "../../tools/tool-definition.ts";

/** What a tool gives at one call: its output, an error to fail with, or a function. */
export type MockToolResult = ToolOutput | Error | ((input: JsonValue, call: ToolCall) => ToolOutput | Promise<ToolOutput>);

export interface MockTool extends Tool {
  /** The arguments it was called with, call by call. */
  readonly calls: readonly JsonValue[];
}

/** A tool that gives results by script and remembers its calls; its last result is given again and again. It reads, and takes any object, unless told otherwise. */
export function mockTool(
  name: string,
  results: readonly MockToolResult[] = ["done"],
  fields: Partial<Omit<ToolDefinition, "name" | "execute">> = {},
): MockTool {
  const calls: JsonValue[] = [];
  const tool = defineTool({
    name,
    description: `A mock of ${name}.`,
    effect: "read",
    input: { type: "object" },
    ...fields,
    async execute(input, call) {
      const result = results[Math.min(calls.length, results.length - 1)];
      calls.push(input);
      if (result instanceof Error) throw result;
      return typeof result === "function" ? await result(input, call) : result;
    },
  });
  return Object.assign(tool as Tool, { calls });
}
