import type { JsonValue } from "@keelson/protocol";
import { parseJson } from "./parse-json.ts";
import { PartialJson } from "./partial-json.ts";

const OPENER = /[{[]/g;
/** Characters that may be read for each of the text: an end to what only looks like JSON, again and again. */
const READINGS = 16;

/**
 * The lists and objects that stand in a text, in their order: alone, in a fence, or with words around them. Where the text as
 * a whole is JSON, it is that one value, whatever its kind. Of a value that is not complete nothing is given.
 */
export function* jsonInText(text: string): Generator<JsonValue, void> {
  const whole = parsed(text);
  if (whole !== undefined) {
    yield whole;
    return;
  }
  let left = text.length * READINGS;
  for (let from = nextOpener(text, 0); from >= 0 && left > 0;) {
    const reader = new PartialJson();
    const end = reader.push(text, from);
    left -= end - from;
    if (reader.status === "open") return;
    if (reader.status === "complete") yield reader.snapshot() as JsonValue;
    from = nextOpener(text, reader.status === "complete" ? end : from + 1);
  }
}

/** Where the next list or object may begin; -1 where none does. */
export function nextOpener(text: string, from: number): number {
  OPENER.lastIndex = from;
  return OPENER.test(text) ? OPENER.lastIndex - 1 : -1;
}

function parsed(text: string): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined; // then there are words around it, or it is none
  }
}
