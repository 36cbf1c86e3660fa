import { readEditable, type TextEdit } from "./editable-text.ts";
import { lineNumberAt } from "./line-ends.ts";
import { type Placement, placeEdit, searchedText, type WantedEdit } from "./place-edit.ts";

/** The result of making several edits of one file, all or none. */
export type EditsPlacement =
  | {
      readonly kind: "placed";
      readonly content: Buffer;
      /** The number of places that were changed. */
      readonly count: number;
      readonly notes: readonly string[];
    }
  /** The first edit that cannot be made. */
  | { readonly kind: "failed"; readonly index: number; readonly failure: Exclude<Placement, { readonly kind: "placed" }> }
  | { readonly kind: "binary" };

interface Placed {
  readonly index: number;
  readonly edits: readonly TextEdit[];
}

/**
 * Makes edits of a file. Each is placed on the text as it is before all of them, so their order does not matter. An edit whose old text is not there, but
 * is exactly in the result of the others, is placed on that. Edits that overlap are refused.
 */
export function placeEdits(content: Uint8Array, edits: readonly WantedEdit[]): EditsPlacement {
  const editable = readEditable(content);
  if (editable === undefined) return { kind: "binary" };
  const searched = searchedText(editable.text);
  const placed: Placed[] = [];
  const later: number[] = [];
  const notes: string[] = [];
  for (const [index, edit] of edits.entries()) {
    const placement = placeEdit(searched, edit);
    if (placement.kind === "absent" && edits.length > 1) {
      later.push(index);
    } else if (placement.kind !== "placed") {
      return { kind: "failed", index, failure: placement };
    } else {
      placed.push({ index, edits: placement.edits });
      notes.push(...placement.notes.map((note) => (edits.length > 1 ? `edit ${index + 1}: ${note}` : note)));
    }
  }
  const overlap = overlapOf(placed);
  if (overlap !== undefined) {
    const line = lineNumberAt(editable.text, overlap.place);
    const reason = `edits ${overlap.first + 1} and ${overlap.second + 1} overlap at line ${line}. Make one edit of them`;
    return { kind: "failed", index: overlap.second, failure: { kind: "refused", reason } };
  }
  const all = placed.flatMap((one) => one.edits);
  const applied = editable.apply(all);
  if (typeof applied === "string") return { kind: "failed", index: placed[0]?.index ?? 0, failure: { kind: "refused", reason: applied } };
  const result = placeLater(applied, edits, later);
  return "failure" in result
    ? { kind: "failed", ...result }
    : { kind: "placed", content: result.content, count: all.length + result.count, notes };
}

/** Edits of text that the edits before them put in. Nothing is compared loosely here. */
function placeLater(
  before: Buffer,
  edits: readonly WantedEdit[],
  later: readonly number[],
):
  | { readonly content: Buffer; readonly count: number }
  | { readonly index: number; readonly failure: Exclude<Placement, { readonly kind: "placed" }> } {
  let content = before;
  let count = 0;
  for (const index of later) {
    const editable = later.length === edits.length ? undefined : readEditable(content);
    if (editable === undefined) return { index, failure: { kind: "absent" } };
    const placement = placeEdit(searchedText(editable.text), edits[index] as WantedEdit);
    if (placement.kind !== "placed") return { index, failure: placement };
    if (placement.notes.length > 0) return { index, failure: { kind: "absent" } };
    const applied = editable.apply(placement.edits);
    if (typeof applied === "string") return { index, failure: { kind: "refused", reason: applied } };
    content = applied;
    count += placement.edits.length;
  }
  return { content, count };
}

function overlapOf(placed: readonly Placed[]): { readonly first: number; readonly second: number; readonly place: number } | undefined {
  const spans = placed.flatMap(({ index, edits }) => edits.map(({ start, end }) => ({ index, start, end })));
  spans.sort((a, b) => a.start - b.start || a.end - b.end);
  for (let at = 1; at < spans.length; at++) {
    const [one, other] = [spans[at - 1], spans[at]] as [
      { index: number; start: number; end: number },
      { index: number; start: number; end: number },
    ];
    if (other.start < one.end || (other.start === one.start && other.end === one.end))
      return { first: Math.min(one.index, other.index), second: Math.max(one.index, other.index), place: other.start };
  }
  return undefined;
}
