import type { Content, JsonValue } from "@keelson/protocol";

/** The output of a result that has parts. Decoded parts are JSON; their interfaces lack only the index signature that says so. */
export function contentOutput(content: readonly Content[]): JsonValue {
  return { type: "content", content } as unknown as JsonValue;
}
