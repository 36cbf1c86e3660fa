import type { JsonValue } from "@keelson/protocol";
import { parseJson } from "./parse-json.ts";

const OPENS = "[{,:";

/**
 * Parses JSON as people write it in settings: with comments of lines and blocks, with a comma behind the last entry, and with the mark that
 * editors on Windows put first. Otherwise the same as {@link parseJson}; positions in errors are those of the given text.
 * @throws SyntaxError as `JSON.parse`
 */
export function parseJsonc(text: string): JsonValue {
  return parseJson(plainJson(text));
}

/** Returns a text of the same length with blanks in place of comments and closing commas. */
function plainJson(text: string): string {
  const blanked: { readonly from: number; readonly upTo: number }[] = [];
  if (text.startsWith("\uFEFF")) blanked.push({ from: 0, upTo: 1 });
  // The last sign that is neither blank nor comment, and the comma that may be the closing one.
  let last = "";
  let comma: number | undefined;
  for (let at = blanked.length; at < text.length; at++) {
    const sign = text.charAt(at);
    if (sign === "/" && (text[at + 1] === "/" || text[at + 1] === "*")) {
      const end = endOfComment(text, at);
      blanked.push({ from: at, upTo: end });
      at = end - 1;
      continue;
    }
    if (sign === " " || sign === "\n" || sign === "\r" || sign === "\t") continue;
    if ((sign === "}" || sign === "]") && comma !== undefined) blanked.push({ from: comma, upTo: comma + 1 });
    comma = sign === "," && last !== "" && !OPENS.includes(last) ? at : undefined;
    if (sign === '"') at = endOfString(text, at);
    last = sign;
  }
  if (blanked.length === 0) return text;
  let plain = "";
  let from = 0;
  for (const { from: start, upTo } of blanked.toSorted((a, b) => a.from - b.from)) {
    plain += text.slice(from, start) + text.slice(start, upTo).replace(/[^\n]/g, " ");
    from = upTo;
  }
  return plain + text.slice(from);
}

function endOfComment(text: string, start: number): number {
  const isLine = text[start + 1] === "/";
  const end = isLine ? text.indexOf("\n", start) : text.indexOf("*/", start + 2);
  if (end >= 0) return isLine ? end : end + 2;
  if (isLine) return text.length;
  throw new SyntaxError(`The comment at position ${start} has no end`);
}

/** @returns the position of the closing quote, or of the last sign */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const sign = text[at];
    if (sign === "\\") at++;
    else if (sign === '"') return at;
  }
  return text.length;
}
