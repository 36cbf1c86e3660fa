import type { ToolCallPart } from "@keelson/protocol";

/**
 * The arguments of a call as JSON text: the model's own where it says what was meant, since the vendor's prompt cache knows that;
 * some servers refuse text that is no JSON.
 */
export function callArguments(call: ToolCallPart): string {
  if (call.input === undefined) return "{}";
  const text = JSON.stringify(call.input);
  try {
    if (JSON.stringify(JSON.parse(call.inputText)) === text) return call.inputText;
  } catch {
    // Empty, or repaired since.
  }
  return text;
}
