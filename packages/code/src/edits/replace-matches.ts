import type { Search } from "./compile-search.ts";
import { readEditable, type TextEdit } from "./editable-text.ts";
import { foldText } from "./fold-text.ts";
import { usesReturns, usualLineEnd, withLineFeeds } from "./line-ends.ts";

/** A file with the matches of a search replaced. */
export type ReplacedMatches =
  | { readonly kind: "replaced"; readonly content: Buffer; readonly count: number }
  | { readonly kind: "none" }
  | { readonly kind: "binary" }
  | { readonly kind: "refused"; readonly reason: string };

/** Replaces all matches of a search in a file. Line ends that are put in are those of the file. */
export function replaceMatches(content: Uint8Array, search: Search): ReplacedMatches {
  const editable = readEditable(content);
  if (editable === undefined) return { kind: "binary" };
  const { text } = editable;
  const returnsEnd = usesReturns(text);
  const folded = foldText(text, "line-ends", returnsEnd);
  const usualEnd = usualLineEnd(text);
  const edits: TextEdit[] = [];
  let count = 0;
  for (const match of search(folded.text)) {
    // The place behind the last line end is no line.
    if (match.start === folded.text.length && match.end === match.start && folded.text.endsWith("\n")) continue;
    count++;
    const start = match.start === 0 ? 0 : folded.startOf(match.start);
    const end = match.end === match.start ? start : folded.endOf(match.end);
    const given = withLineFeeds(match.text, returnsEnd);
    const replacement = usualEnd === "\n" ? given : given.replaceAll("\n", usualEnd);
    if (text.slice(start, end) !== replacement) edits.push({ start, end, text: replacement });
  }
  if (count === 0) return { kind: "none" };
  const applied = editable.apply(edits);
  return typeof applied === "string" ? { kind: "refused", reason: applied } : { kind: "replaced", content: applied, count: edits.length };
}
