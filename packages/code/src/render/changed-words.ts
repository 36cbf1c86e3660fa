import { diffWordsWithSpace } from "diff";
import type { Look, Row } from "../markdown/span.ts";
import type { DiffRow } from "./diff-rows.ts";

/** Lines longer than this, and lines with more changed words, are compared as wholes. */
const MAX_LENGTH = 500;
const MAX_EDITS = 60;
/** The part of the longer line that must be the same: words of unlike lines would be marked all over. */
const MIN_LIKENESS = 0.5;
const MAX_PAIRS = 400;

export const REMOVED: Look = { role: "removed" };
export const ADDED: Look = { role: "added" };
const REMOVED_WORD: Look = { role: "removed-word" };
const ADDED_WORD: Look = { role: "added-word" };

export function isChangedWord(look: Look | undefined): boolean {
  return look === REMOVED_WORD || look === ADDED_WORD;
}

/** Marks the words that changed between removed lines and the added lines after them, one by one. */
export function markChangedWords(rows: readonly DiffRow[]): DiffRow[] {
  const marked = [...rows];
  let pairs = 0;
  for (let start = 0; start < rows.length; start += 1) {
    if (rows[start]?.sign !== "-") continue;
    const middle = endOf(rows, start, "-");
    const end = endOf(rows, middle, "+");
    // If the counts differ, the pairs are a guess, which the likeness of the lines confirms.
    for (let index = 0; index < Math.min(middle - start, end - middle) && pairs < MAX_PAIRS; index += 1, pairs += 1) {
      const [before, after] = [rows[start + index], rows[middle + index]];
      if (before === undefined || after === undefined) continue;
      const words = changedWords(before.text, after.text);
      if (words === undefined) continue;
      marked[start + index] = { ...before, marked: words.before };
      marked[middle + index] = { ...after, marked: words.after };
    }
    start = end - 1;
  }
  return marked;
}

function changedWords(before: string, after: string): { readonly before: Row; readonly after: Row } | undefined {
  if (before.length > MAX_LENGTH || after.length > MAX_LENGTH) return undefined;
  const parts = diffWordsWithSpace(before, after, { maxEditLength: MAX_EDITS });
  if (parts === undefined) return undefined;
  const same = parts.reduce((length, { added, removed, value }) => (added || removed ? length : length + value.trim().length), 0);
  if (same < MIN_LIKENESS * Math.max(before.trim().length, after.trim().length)) return undefined;
  return {
    before: parts.flatMap(({ added, removed, value }) => (added ? [] : [{ text: value, look: removed ? REMOVED_WORD : REMOVED }])),
    after: parts.flatMap(({ added, removed, value }) => (removed ? [] : [{ text: value, look: added ? ADDED_WORD : ADDED }])),
  };
}

function endOf(rows: readonly DiffRow[], start: number, sign: DiffRow["sign"]): number {
  let end = start;
  while (rows[end]?.sign === sign) end += 1;
  return end;
}
