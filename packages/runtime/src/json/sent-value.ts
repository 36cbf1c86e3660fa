import { canonicalJson } from "./canonical-json.ts";
import { closingMarkLength } from "./closing-markup.ts";
import { parseJson } from "./parse-json.ts";
import { scanJson } from "./scan-json.ts";

/** The one value that a text of several pieces means. */
export type SentValue =
  | { readonly type: "closed"; readonly text: string }
  | { readonly type: "truncated" }
  | { readonly type: "ambiguous"; readonly message: string };

const BETWEEN = /[\s}\])]/;
const SHOWN = 40;

/**
 * Finds the one value that is meant by a text that begins with a list or an object. Gateways put `{}` before the arguments, send the
 * same object twice, and leave closing brackets and closing markup behind it. Anything else behind the value makes the text ambiguous,
 * because a call must not run with a part of what was written.
 */
export function sentValue(text: string): SentValue {
  let value = "";
  let at = 0;
  while (at < text.length) {
    const char = text[at] as string;
    if (value !== "" && BETWEEN.test(char)) {
      at += 1;
      continue;
    }
    const mark = closingMarkLength(text, at);
    if (value !== "" && mark > 0) {
      at += mark;
      continue;
    }
    const rest = text.slice(at);
    if (char !== "{" && (value !== "" || char !== "[")) return isOpenComment(rest) ? { type: "truncated" } : behind(value, rest);
    const outline = scanJson(rest);
    if (outline.type !== "closed") return outline;
    const next = rest.slice(0, outline.end);
    if (value === "" || isEmptyObject(value)) value = next;
    else if (!isSameJsonText(value, next)) return { type: "ambiguous", message: "there is more than one value" };
    at += outline.end;
  }
  return { type: "closed", text: value };
}

function behind(value: string, rest: string): SentValue {
  const shown = JSON.stringify(rest.length > SHOWN ? `${rest.slice(0, SHOWN)}…` : rest);
  return { type: "ambiguous", message: `${shown} stands behind the ${value.startsWith("[") ? "list" : "object"}` };
}

/** A comment without its end may have been cut off. */
function isOpenComment(rest: string): boolean {
  return (rest.startsWith("//") && !rest.includes("\n")) || (rest.startsWith("/*") && !rest.includes("*/"));
}

function isEmptyObject(text: string): boolean {
  return /^\{\s*\}$/.test(text);
}

/** True if two texts are the same value, with the same digits of integers. */
export function isSameJsonText(a: string, b: string): boolean {
  if (a === b) return true;
  try {
    return canonicalJson(parseJson(a)) === canonicalJson(parseJson(b));
  } catch {
    return false;
  }
}
