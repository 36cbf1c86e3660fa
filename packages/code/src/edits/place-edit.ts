import type { TextEdit } from "./editable-text.ts";
import { composeLines } from "./compose-lines.ts";
import { elisionIn, elisionPutIn } from "./elision.ts";
import { driftedBlock, driftedPlaces } from "./find-drifted.ts";
import { type FoundBlock, shiftedBlock, shiftedPlaces } from "./find-shifted.ts";
import { FOLDS, type Fold, foldText, type FoldedText } from "./fold-text.ts";
import { type IndentedLine, indentedLine } from "./indented-line.ts";
import { type LineEnd, lineNumberAt, textLines, usesReturns, usualLineEnd, withLineFeeds } from "./line-ends.ts";
import { type TextPair, undecorate } from "./undecorate.ts";

/** A text that is to be replaced by another one. */
export interface WantedEdit {
  readonly old: string;
  readonly wanted: string;
  /** True if each occurrence is meant. */
  readonly isForAll?: boolean;
}

/** The result of looking for the place of an edit. */
export type Placement =
  | {
      readonly kind: "placed";
      readonly edits: readonly TextEdit[];
      /** The differences between the old text and the file, for the model and the person. Empty if there is none. */
      readonly notes: readonly string[];
    }
  | { readonly kind: "absent" }
  /** The lines, from 1, at which the candidates begin, of at most `MAX_CANDIDATES`. */
  | { readonly kind: "ambiguous"; readonly lines: readonly number[]; readonly note: string | undefined }
  | { readonly kind: "refused"; readonly reason: string };

/** More candidates are not looked for. */
export const MAX_CANDIDATES = 100;

/** A text with what the steps of the ladder need of it, made when it is needed. */
export interface SearchedText {
  readonly text: string;
  readonly returnsEnd: boolean;
  readonly usualEnd: LineEnd;
  folded(fold: Fold): FoldedText;
  /** Lines, from the first to the last. A line end at the end of the text begins no further line. */
  readonly lines: readonly string[];
  readonly ends: readonly LineEnd[];
  indented(): readonly IndentedLine[];
  /** The place at which a line begins, from 0. */
  startOf(line: number): number;
}

export function searchedText(text: string): SearchedText {
  const returnsEnd = usesReturns(text);
  const { lines, ends } = textLines(text);
  const folds = new Map<Fold, FoldedText>();
  let indented: readonly IndentedLine[] | undefined;
  let starts: number[] | undefined;
  return {
    text,
    returnsEnd,
    usualEnd: usualLineEnd(text),
    lines,
    ends,
    folded(fold) {
      let folded = folds.get(fold);
      if (folded === undefined) folds.set(fold, (folded = foldText(text, fold, returnsEnd)));
      return folded;
    },
    indented: () => (indented ??= lines.map(indentedLine)),
    startOf(line) {
      if (starts === undefined) {
        starts = [0];
        for (const [index, end] of ends.entries()) starts.push((starts[index] as number) + (lines[index] as string).length + end.length);
      }
      return starts[line] ?? text.length;
    },
  };
}

/**
 * Looks for the place of an edit, from the strictest way to compare to the loosest. The first way that finds anything decides: with one candidate the
 * edit is placed, with more it is ambiguous.
 */
export function placeEdit(searched: SearchedText, edit: WantedEdit): Placement {
  const { text, returnsEnd } = searched;
  const old = withLineFeeds(edit.old, returnsEnd);
  const wanted = withLineFeeds(edit.wanted, returnsEnd);
  if (old === wanted)
    return edit.old === edit.wanted
      ? { kind: "refused", reason: "the old and the new text are the same; there is nothing to change" }
      : placeLineEnds(searched, edit);
  if (old === "") return { kind: "refused", reason: "the old text is empty" };
  const placeholder = elisionPutIn(old, wanted);
  if (placeholder !== undefined && !text.includes(placeholder.trim()))
    return {
      kind: "refused",
      reason: `the new text has the placeholder ${JSON.stringify(placeholder.trim())}, which would replace the code that it stands for. Write that code out, or make smaller edits around it`,
    };
  const given = { ...edit, old, wanted };
  const plain = placeFolded(searched, given, { without: [], startsLine: false, endsLine: false });
  if (plain !== undefined) return plain;
  const bare = undecorate(old, wanted);
  for (const pair of bare) {
    const placed = pair.old === pair.wanted ? undefined : placeFolded(searched, { ...given, old: pair.old, wanted: pair.wanted }, pair);
    if (placed !== undefined) return placed;
  }
  if (edit.isForAll === true) return { kind: "absent" };
  const pairs = [{ old, wanted, without: [] as readonly string[] }, ...bare].filter((pair) => pair.old !== pair.wanted);
  for (const find of [placeShifted, placeDrifted])
    for (const pair of pairs) {
      const placed = find(searched, pair, pair.without);
      if (placed !== undefined) return placed;
    }
  const line = elisionIn(old);
  if (line !== undefined)
    return {
      kind: "refused",
      reason: `line ${line + 1} of the old text (${JSON.stringify(old.split("\n")[line]?.trim())}) stands for text that was left out, and does not occur in the file. Write all lines out, or make an edit for each part`,
    };
  return { kind: "absent" };
}

/** An edit that only changes line ends is taken literally. */
function placeLineEnds({ text }: SearchedText, { old, wanted }: WantedEdit): Placement {
  const place = text.indexOf(old);
  if (place === -1) return { kind: "absent" };
  if (text.includes(old, place + 1))
    return { kind: "refused", reason: "the texts differ only in their line ends, and the old one occurs more than once" };
  return { kind: "placed", edits: [{ start: place, end: place + old.length, text: wanted }], notes: ["only line ends were changed"] };
}

export const FOLD_NOTES: { readonly [F in Fold]: string | undefined } = {
  "line-ends": undefined,
  "trailing-blanks": "blanks at the ends of lines differ",
  "look-alikes": "quotes, dashes, blanks or other characters that look alike differ",
  "unicode-forms": "the composition of Unicode characters differs",
};

/** Bounds of lines that the place of a text must have. */
type LineBounds = Pick<TextPair, "startsLine" | "endsLine">;

function placeFolded(
  searched: SearchedText,
  edit: WantedEdit,
  { without, ...bounds }: LineBounds & Pick<TextPair, "without">,
): Placement | undefined {
  const isPlain = !/[^\x00-\x7f]/.test(searched.text) && !/[^\x00-\x7f]/.test(edit.old); // eslint-disable-line no-control-regex
  for (const fold of FOLDS) {
    if (isPlain && (fold === "look-alikes" || fold === "unicode-forms")) break;
    const folded = searched.folded(fold);
    const found = findFolded(searched.text, folded, edit, fold, bounds);
    if (found.length === 0) continue;
    const note = FOLD_NOTES[fold];
    const notes = [
      ...without.map((name) => `${name} of the old text are not in the file and were left out`),
      ...(note === undefined ? [] : [note]),
    ];
    if (found.length > 1 && edit.isForAll !== true)
      return { kind: "ambiguous", lines: found.map(([start]) => lineNumberAt(searched.text, folded.startOf(start))), note: notes[0] };
    const edits = withoutOverlaps(found).map(([start, end]) => editAt(searched, folded, [start, end], edit, fold));
    const changing = edits.filter(({ start, end, text }) => searched.text.slice(start, end) !== text);
    if (changing.length === 0) return { kind: "refused", reason: "the file has the new text already; there is nothing to change" };
    return { kind: "placed", edits: changing, notes };
  }
  return undefined;
}

type Span = readonly [start: number, end: number];

/** The places of an old text in a folded text: all that do not overlap for a change of all, else also those that do. */
function findFolded(text: string, folded: FoldedText, { old, isForAll = false }: WantedEdit, fold: Fold, bounds: LineBounds): Span[] {
  const wanted = foldText(old, fold).text;
  if (wanted.trim() === "" && wanted !== old) return [];
  if (wanted === "") return [];
  // Blanks that were dropped at the ends mean the end of a line, or a blank line.
  const [firstLine = "", lastLine = ""] = [old.split("\n")[0], old.slice(old.lastIndexOf("\n") + 1)];
  const endsLine = bounds.endsLine || (fold !== "line-ends" && /\s$/.test(lastLine));
  const startsLine = bounds.startsLine || (fold !== "line-ends" && firstLine !== "" && firstLine.trim() === "" && old.includes("\n"));
  const found: Span[] = [];
  for (let start = folded.text.indexOf(wanted); start !== -1; start = folded.text.indexOf(wanted, start + (isForAll ? wanted.length : 1))) {
    const end = start + wanted.length;
    if (folded.startOf(start) === -1 || folded.endOf(end) === -1) continue;
    const isLineEnd = end === folded.text.length || folded.text[end] === "\n";
    const isLineStart = start === 0 || folded.text[start - 1] === "\n";
    if (endsLine && !isLineEnd) continue;
    if (startsLine && !isLineStart) continue;
    // A letter is not replaced without its marks.
    if (isMark(text, folded.startOf(start)) || isMark(text, folded.endOf(end))) continue;
    found.push([start, end]);
    if (!isForAll && found.length >= MAX_CANDIDATES) break;
  }
  return found;
}

function isMark(text: string, place: number): boolean {
  const code = text.codePointAt(place);
  return code !== undefined && code > 0x2ff && /^\p{M}/u.test(String.fromCodePoint(code));
}

function withoutOverlaps(spans: readonly Span[]): Span[] {
  const kept: Span[] = [];
  for (const span of spans) if (span[0] >= (kept.at(-1)?.[1] ?? 0)) kept.push(span);
  return kept;
}

function editAt(
  { text, usualEnd }: SearchedText,
  folded: FoldedText,
  [start, end]: Span,
  { old, wanted }: WantedEdit,
  fold: Fold,
): TextEdit {
  const lines: string[] = [];
  const ends: LineEnd[] = [];
  const [from, to] = [folded.startOf(start), folded.endOf(end)];
  let line = from;
  for (let at = folded.text.indexOf("\n", start); at !== -1 && at < end; at = folded.text.indexOf("\n", at + 1)) {
    lines.push(text.slice(line, folded.startOf(at)));
    line = folded.endOf(at + 1);
    ends.push(text.slice(folded.startOf(at), line) as LineEnd);
  }
  lines.push(text.slice(line, Math.max(line, to)));
  const composed = composeLines({ found: { lines, ends }, old: old.split("\n"), wanted: wanted.split("\n"), fold, usualEnd });
  return { start: from, end: to, text: composed };
}

interface GivenPair {
  readonly old: string;
  readonly wanted: string;
}

/** The lines of a text of whole lines. Line ends at the ends of both texts are no lines. */
function linesOf({
  old,
  wanted,
}: GivenPair): { readonly old: readonly string[]; readonly wanted: readonly string[]; readonly endsWithLine: boolean } | undefined {
  const endsWithLine = old.endsWith("\n");
  const lines = (endsWithLine ? old.slice(0, -1) : old).split("\n");
  if (lines[0]?.trim() === "" || lines.at(-1)?.trim() === "") return undefined;
  if (wanted === "") return { old: lines, wanted: [], endsWithLine };
  return { old: lines, wanted: (wanted.endsWith("\n") && endsWithLine ? wanted.slice(0, -1) : wanted).split("\n"), endsWithLine };
}

function placeShifted(searched: SearchedText, pair: GivenPair, without: readonly string[]): Placement | undefined {
  const lines = linesOf(pair);
  if (lines === undefined) return undefined;
  const places = shiftedPlaces(searched.indented(), lines.old);
  const block = places.length === 1 ? shiftedBlock(searched.indented(), places[0] as number, lines.old, lines.wanted) : undefined;
  return placeBlock(searched, lines, { places, block, note: SHIFT_NOTE }, [...notesWithout(without), SHIFT_NOTE]);
}

function placeDrifted(searched: SearchedText, pair: GivenPair, without: readonly string[]): Placement | undefined {
  const lines = linesOf(pair);
  if (lines === undefined) return undefined;
  const places = driftedPlaces(searched.indented(), lines.old);
  const [only] = places;
  const block = only !== undefined && places.length === 1 ? driftedBlock(searched.lines, only, lines.old, lines.wanted) : undefined;
  const notes = only === undefined ? [] : [driftNote(searched, only.at + only.drifted)];
  return placeBlock(searched, lines, { places: places.map(({ at }) => at), block, note: "one line of it differs" }, [
    ...notesWithout(without),
    ...notes,
  ]);
}

export const SHIFT_NOTE = "the indentation differs; the new text is indented as the file is";

/** @param line from 0 */
export function driftNote({ lines }: SearchedText, line: number): string {
  return `line ${line + 1} of the file is not as in the old text, and was kept but for the change: ${JSON.stringify(lines[line]?.trim())}`;
}

function notesWithout(without: readonly string[]): readonly string[] {
  return without.map((name) => `${name} of the old text are not in the file and were left out`);
}

function placeBlock(
  searched: SearchedText,
  given: { readonly old: readonly string[]; readonly wanted: readonly string[]; readonly endsWithLine: boolean },
  { places, block, note }: { readonly places: readonly number[]; readonly block: FoundBlock | undefined; readonly note: string },
  notes: readonly string[],
): Placement | undefined {
  if (places.length > 1) return { kind: "ambiguous", lines: places.map((place) => place + 1), note };
  if (block === undefined) return undefined;
  const { text, lines, ends, usualEnd } = searched;
  const last = block.at + given.old.length - 1;
  const start = searched.startOf(block.at);
  const found = { lines: lines.slice(block.at, last + 1), ends: ends.slice(block.at, last) };
  // A deletion of whole lines takes their last line end along, if the old text has it.
  const isDeletion = block.wanted.length === 0;
  const end = isDeletion && given.endsWithLine ? searched.startOf(last + 1) : searched.startOf(last) + (lines[last] as string).length;
  const composed = isDeletion ? "" : composeLines({ found, old: block.old, wanted: block.wanted, fold: "unicode-forms", usualEnd });
  const edit = { start, end, text: composed };
  if (text.slice(edit.start, edit.end) === edit.text)
    return { kind: "refused", reason: "the file has the new text already; there is nothing to change" };
  return { kind: "placed", edits: [edit], notes };
}
