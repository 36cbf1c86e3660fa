import type { JsonObject, Tool, ToolContent } from "@keelson/protocol";
import type { LeafResult } from "../../tools/index.ts";
import { textOfValue, wireContent, type WireContent } from "./wire-content.ts";

/** The result of a call as the protocol has it. */
export interface WireResult {
  readonly content: readonly WireContent[];
  readonly structuredContent?: unknown;
  readonly isError?: true;
  readonly _meta?: JsonObject;
}

/** A value goes as structured content where the tool says what it looks like or it is an object, and as text for clients that read no other. */
export function wireResult(
  tool: Pick<Tool, "name" | "outputSchema" | "maxOutputBytes">,
  { output, isError }: Pick<LeafResult, "output" | "isError">,
): WireResult {
  if (isParts(output)) return { content: output.content.map(wireContent), ...(isError && { isError }) };
  const text: WireContent = { type: "text", text: textOfValue(output) };
  if (isError) return { content: [text], isError };
  // A part of a value is no value.
  if (tool.outputSchema !== undefined && typeof output === "string" && tool.outputSchema["type"] !== "string")
    return wireFailure(
      `The tool "${tool.name}" ran, but its output is larger than its maxOutputBytes (${tool.maxOutputBytes}) and was not sent.`,
    );
  const isStructured = tool.outputSchema !== undefined || (typeof output === "object" && output !== null && !Array.isArray(output));
  return { content: [text], ...(isStructured && { structuredContent: output }) };
}

export function wireFailure(message: string): WireResult {
  return { content: [{ type: "text", text: message }], isError: true };
}

function isParts(output: unknown): output is ToolContent {
  return (
    typeof output === "object" &&
    output !== null &&
    (output as { type?: unknown }).type === "content" &&
    Array.isArray((output as { content?: unknown }).content)
  );
}
