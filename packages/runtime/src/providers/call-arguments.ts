import type { ToolCallPart } from "@keelson/protocol";
import { objectInput } from "./history.ts";

/**
 * The arguments of a call as JSON text: the model's own where it says what was meant, since the vendor's prompt cache knows that;
 * some servers refuse text that is no JSON.
 */
export function callArguments(call: ToolCallPart): string {
  // Free text and other values: arguments are an object.
  if (typeof call.input !== "object" || call.input === null || Array.isArray(call.input)) return JSON.stringify(objectInput(call));
  const text = JSON.stringify(call.input);
  if (text === call.inputText) return text;
  try {
    if (JSON.stringify(JSON.parse(call.inputText)) === text) return call.inputText;
  } catch {
    // Empty, or repaired since.
  }
  return text;
}
