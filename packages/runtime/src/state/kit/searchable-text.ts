import type { JsonValue } from "@keelson/protocol";

/** Of one value. What comes behind is kept, and not found. */
const MAX_INDEXED = 256 * 1024;
/** That a state store looks for: a database takes only so long a query, and nobody means more. */
export const MAX_QUERY_WORDS = 1000;
const SNIPPET = 160;

/** What words of a value can be found by: its strings and numbers, and the names that they stand under. */
export function searchableText(value: JsonValue): string {
  const parts: string[] = [];
  let length = 0;
  const add = (part: string): void => {
    if (part === "" || length >= MAX_INDEXED) return;
    parts.push(part);
    length += part.length + 1;
  };
  const visit = (current: JsonValue): void => {
    if (length >= MAX_INDEXED) return;
    if (typeof current === "string") add(current);
    else if (typeof current === "number") add(String(current));
    else if (Array.isArray(current)) for (const item of current) visit(item);
    else if (typeof current === "object" && current !== null)
      for (const [name, inner] of Object.entries(current)) {
        add(name);
        visit(inner as JsonValue);
      }
  };
  visit(value);
  return parts.join("\n").slice(0, MAX_INDEXED);
}

/** The words of a query: runs of letters and digits. No character of it means anything to a database. */
export function wordsOf(query: string): readonly string[] {
  return [
    ...new Set(
      query
        .normalize("NFC")
        .toLowerCase()
        .match(/[\p{L}\p{N}\p{M}]+/gu) ?? [],
    ),
  ];
}

/** The part of a text around the first of the words that is in it, or its beginning; cut off at spaces where there are any. */
export function snippetAround(text: string, words: readonly string[]): string {
  const flat = text.replace(/\s+/g, " ").trim();
  if (flat.length <= SNIPPET) return flat;
  const lower = flat.toLowerCase();
  // Endings may differ, as in "runs" and "running".
  const found = words.map((word) => lower.indexOf(word.slice(0, Math.max(3, word.length - 3)))).filter((index) => index >= 0);
  const middle = found.length === 0 ? 0 : Math.min(...found);
  const start = Math.max(0, Math.min(middle - SNIPPET / 4, flat.length - SNIPPET));
  const cut = flat.slice(start, start + SNIPPET).toWellFormed();
  const from = start > 0 ? cut.slice(cut.indexOf(" ") + 1) : cut;
  const to = start + SNIPPET < flat.length && from.includes(" ") ? from.slice(0, from.lastIndexOf(" ")) : from;
  return `${start > 0 ? "…" : ""}${to}${start + SNIPPET < flat.length ? "…" : ""}`;
}
