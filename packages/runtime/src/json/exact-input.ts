import type { JsonValue } from "@keelson/protocol";
import { canonicalJson } from "./canonical-json.ts";
import { mayHoldInexactInteger } from "./inexact-integer.ts";
import { arrivedIntegers, parseJson } from "./parse-json.ts";

/**
 * The arguments of a call as {@link parseJson} reads them from the text that the model wrote. `undefined` if the text holds no integer
 * that doubles do not keep, or if `input` was changed since it was read from that text. Logs of earlier versions hold rounded integers
 * beside the text.
 */
export function exactInput(call: { readonly input?: JsonValue | undefined; readonly inputText?: string }): JsonValue | undefined {
  const { input, inputText = "" } = call;
  if (input === undefined || !mayHoldInexactInteger(inputText)) return undefined;
  try {
    const exact = parseJson(inputText);
    if (arrivedIntegers(exact).length === 0) return undefined;
    const given = canonicalJson(input);
    return canonicalJson(exact) === given || canonicalJson(JSON.parse(inputText) as JsonValue) === given ? exact : undefined;
  } catch {
    return undefined; // it was repaired since, or is too deep
  }
}
