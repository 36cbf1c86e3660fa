import type { JsonObject, ToolCallPart } from "@keelson/protocol";
import { exactInput, restoreIntegers } from "../json/index.ts";
import { objectInput } from "./history.ts";

/**
 * The arguments of a call as JSON text: the model's own where it says what was meant, since the vendor's prompt cache knows that;
 * some servers refuse text that is no JSON.
 */
export function callArguments(call: ToolCallPart): string {
  // Free text and other values: arguments are an object.
  if (typeof call.input !== "object" || call.input === null || Array.isArray(call.input)) return JSON.stringify(objectInput(call));
  const text = JSON.stringify(call.input);
  if (text === call.inputText || exactInput(call) !== undefined) return call.inputText;
  try {
    if (JSON.stringify(JSON.parse(call.inputText)) === text) return call.inputText;
  } catch {
    // Empty, or repaired since.
  }
  return text;
}

/**
 * The arguments of a call for wires whose calls hold objects, to be written by `JSON.stringify`: integers have the digits that the
 * model wrote. Those that no double comes near stay texts, since servers refuse them as numbers.
 */
export function callObject(call: ToolCallPart): JsonObject {
  const input = exactInput(call);
  return input === undefined ? objectInput(call) : objectInput({ ...call, input: restoreIntegers(input, true) });
}
