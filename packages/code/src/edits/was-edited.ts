import { readEditable } from "./editable-text.ts";
import { foldText } from "./fold-text.ts";
import { usesReturns, withLineFeeds } from "./line-ends.ts";
import { placeEdit, searchedText, type WantedEdit } from "./place-edit.ts";
import { undecorate } from "./undecorate.ts";

/** An edit that a content may be the result of (`done`), that it may be the material of (`not-done`), or either. */
export type EditVerdict = "done" | "not-done" | "unknown";

// Enough to decide whether a content can come of an edit; text with more occurrences is undecided.
const MAX_TRIED_PLACES = 100;
const MAX_OCCURRENCES = 1000;
const MIN_TELLING_LENGTH = 16;

/**
 * Finds out from the content of a file whether edits were made, all or none. A content that they cannot be made in counts as `not-done`: trying
 * again does no harm.
 */
export function wereEdited(content: Uint8Array, edits: readonly WantedEdit[]): EditVerdict {
  const verdicts = edits.map((edit) => wasEdited(content, edit));
  const [isDone, isNotDone] = [verdicts.includes("done"), verdicts.includes("not-done")];
  if (isDone && isNotDone) return "unknown";
  return isDone ? "done" : isNotDone ? "not-done" : "unknown";
}

function wasEdited(content: Uint8Array, edit: WantedEdit): EditVerdict {
  const editable = readEditable(content);
  if (editable === undefined) return "not-done";
  const returnsEnd = usesReturns(editable.text);
  const text = withLineFeeds(editable.text, returnsEnd);
  const old = withLineFeeds(edit.old, returnsEnd);
  const wanted = withLineFeeds(edit.wanted, returnsEnd);
  if (old === wanted) return edit.old === edit.wanted ? "not-done" : editable.text.includes(edit.wanted) ? "unknown" : "not-done";
  const applies = placeEdit(searchedText(editable.text), edit).kind === "placed";
  const olds = occurrences(text, old);
  if (wanted === "") {
    if (olds.length === 0) return applies ? "unknown" : "done";
    // Deleting "ab" from "aabb" leaves "ab" behind. Longer text is not part of itself by chance.
    return old.length < MIN_TELLING_LENGTH ? "unknown" : "not-done";
  }
  const pairs = [{ old, wanted }, ...undecorate(old, wanted)];
  const strict = pairs.map((pair) => mayResult(text, pair, edit.isForAll === true));
  if (strict.includes("unknown")) return "unknown";
  if (strict.includes("done")) return applies || (edit.isForAll === true ? olds.length > 0 : olds.length === 1) ? "unknown" : "done";
  const bare = squash(text);
  const news = pairs.map((pair) => squash(pair.wanted));
  if (!news.some((each) => bare.includes(each))) return "not-done";
  // One exact occurrence that no new text touches was there before the edit, and would have been replaced.
  const [only, ...others] = olds;
  if (only === undefined || others.length > 0) return "unknown";
  const start = squash(text.slice(0, only)).length;
  const end = start + squash(old).length;
  const isTouched = news.some((each) => occurrences(bare, each).some((place) => place < end && start < place + each.length));
  return isTouched ? "unknown" : "not-done";
}

/** `done` if putting the old text back somewhere gives a text that the replacement turns into this one. */
function mayResult(text: string, { old, wanted }: { readonly old: string; readonly wanted: string }, isForAll: boolean): EditVerdict {
  if (wanted === "" || old === "") return "not-done";
  const news = occurrences(text, wanted);
  if (news.length > MAX_TRIED_PLACES) return "unknown";
  if (isForAll) {
    const olds = occurrences(text, old);
    if (olds.length === MAX_OCCURRENCES) return "unknown";
    // Whatever of the old text is left after all of it was replaced, touches a replacement.
    const isLeft = olds.every((at) => news.some((place) => place < at + old.length && at < place + wanted.length));
    return news.length > 0 && isLeft ? "done" : "not-done";
  }
  const isResult = news.some((place) => occurrences(text.slice(0, place) + old + text.slice(place + wanted.length), old).length === 1);
  return isResult ? "done" : "not-done";
}

/** A text in the form in which it is compared, without white space. */
function squash(text: string): string {
  return foldText(text, "unicode-forms").text.replace(/\s+/g, "");
}

/** All places of a text, also those that overlap. */
function occurrences(text: string, wanted: string): number[] {
  const places: number[] = [];
  if (wanted === "") return places;
  for (let at = text.indexOf(wanted); at !== -1 && places.length < MAX_OCCURRENCES; at = text.indexOf(wanted, at + 1)) places.push(at);
  return places;
}
