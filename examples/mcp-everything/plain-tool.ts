import { defineTool, type Tool, type ToolCall, type ToolDefinition } from "keelson/tools";

/** A tool that changes nothing. */
export function plainTool(
  name: string,
  description: string,
  execute: (input: { readonly [name: string]: unknown }, call: ToolCall) => ReturnType<ToolDefinition["execute"]>,
  properties: { readonly [name: string]: { readonly type: string; readonly description?: string } } = {},
): Tool {
  const input = { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
  return defineTool({ name, description, effect: "read", input, execute });
}
