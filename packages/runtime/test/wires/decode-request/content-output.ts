import type { Content, JsonValue, ToolOutput } from "@keelson/protocol";

/** The output of a result that has parts; decoded parts are JSON. */
export function contentOutput(content: readonly Content[]): JsonValue {
  return { type: "content", content } as ToolOutput as JsonValue;
}
