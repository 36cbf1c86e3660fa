import type { TextEdit } from "./editable-text.ts";
import { elisionPutIn } from "./elision.ts";
import type { Hunk } from "./file-patch.ts";
import { findHunk, type HunkPlace, lineCount } from "./find-hunk.ts";
import type { SearchedText } from "./place-edit.ts";
import { placesBelow } from "./places-below.ts";

/** The result of looking for the places of the hunks of a file. */
export type HunksPlacement =
  | { readonly kind: "placed"; readonly edits: readonly TextEdit[]; readonly notes: readonly string[] }
  | { readonly kind: "absent"; readonly hunk: Hunk }
  /** The lines, from 1, at which the candidates begin. */
  | { readonly kind: "ambiguous"; readonly hunk: Hunk; readonly lines: readonly number[] }
  | { readonly kind: "refused"; readonly hunk: Hunk; readonly reason: string };

interface Candidates {
  readonly hunk: Hunk;
  readonly places: readonly HunkPlace[];
}

/**
 * Places the hunks of a file on its text, all or none. What a hunk says of its place decides between candidates: the end of the file, the lines that lead to it, its line
 * number if the others are right, and the order of the hunks. If two places are left, none is taken.
 */
export function placeHunks(searched: SearchedText, hunks: readonly Hunk[]): HunksPlacement {
  const notes = new Set<string>();
  const appended: TextEdit[] = [];
  const found: Candidates[] = [];
  for (const hunk of hunks) {
    const placeholder = placeholderIn(hunk, searched.text);
    if (placeholder !== undefined)
      return {
        kind: "refused",
        hunk,
        reason: `an added line is the placeholder ${JSON.stringify(placeholder)}, which would replace the code that it stands for. Write that code out, or make smaller hunks around it`,
      };
    if (hunk.lines.every(({ kind, text }) => kind !== "removed" && (kind === "added" || text.trim() === ""))) {
      const edit = appendLines(searched, hunk);
      if (typeof edit === "string") return { kind: "refused", hunk, reason: edit };
      appended.push(edit);
      continue;
    }
    const places = narrowed(searched, hunk, findHunk(searched, hunk), notes);
    if (places.length === 0) return { kind: "absent", hunk };
    found.push({ hunk, places });
  }
  const numbered = byNumber(found);
  const chosen = inOrder(numbered);
  if (chosen === undefined) {
    const open = numbered.find(({ places }) => places.length > 1) as Candidates;
    return { kind: "ambiguous", hunk: open.hunk, lines: open.places.map(({ at }) => at + 1) };
  }
  const edits: TextEdit[] = [...appended];
  for (const [index, place] of chosen.entries()) {
    const { hunk } = found[index] as Candidates;
    const edit = place.edit();
    if (edit === undefined) return { kind: "absent", hunk };
    for (const note of place.notes) notes.add(note);
    edits.push(...withLastLineEnd(searched, hunk, place, trimmed(searched, edit)));
  }
  const overlapping = firstOverlap(edits);
  if (overlapping !== undefined)
    return {
      kind: "refused",
      hunk: hunks[0] as Hunk,
      reason: `two hunks change the same lines, at line ${lineOf(searched, overlapping)}. Make one hunk of them`,
    };
  return { kind: "placed", edits: edits.filter(({ start, end, text }) => searched.text.slice(start, end) !== text), notes: [...notes] };
}

function placeholderIn({ lines }: Hunk, text: string): string | undefined {
  const side = (other: string): string =>
    lines
      .filter(({ kind }) => kind !== other)
      .map((line) => line.text)
      .join("\n");
  const found = elisionPutIn(side("added"), side("removed"))?.trim();
  return found === undefined || text.includes(found) ? undefined : found;
}

/** Lines that are added without any around them go to the end of the file. */
function appendLines(searched: SearchedText, { headers, lines, atEnd, start, lastLineEnd }: Hunk): TextEdit | string {
  const { text, usualEnd } = searched;
  const added = lines.filter(({ kind }) => kind === "added").map((line) => line.text);
  if (lines.some(({ kind }) => kind === "context"))
    return "a hunk only adds lines among blank ones, which does not say where. Give the line before them as a line that begins with a blank";
  if (text === "" || start === 0) {
    if (text !== "" && start === 0) return { start: 0, end: 0, text: added.map((line) => line + usualEnd).join("") };
    return { start: 0, end: 0, text: added.join(usualEnd) + (lastLineEnd === "removed" ? "" : usualEnd) };
  }
  if (!atEnd && (headers.length > 0 || start !== undefined))
    return "a hunk only adds lines and does not say between which lines of the file. Give the line before them as a line that begins with a blank";
  const isEnded = searched.lines.at(-1) === "";
  const joined = added.join(usualEnd);
  return { start: text.length, end: text.length, text: isEnded ? joined + usualEnd : usualEnd + joined };
}

function narrowed(searched: SearchedText, hunk: Hunk, places: readonly HunkPlace[], notes: Set<string>): readonly HunkPlace[] {
  if (hunk.atEnd && places.length > 0) {
    const last = places.filter(({ at, length }) => at + length === lineCount(searched));
    if (last.length > 0) return last;
    notes.add('a hunk with "*** End of File" was found before the end of the file');
  }
  if (places.length < 2 || hunk.headers.length === 0) return places;
  const below = placesBelow(searched, hunk.headers, places);
  return below.length > 0 ? below : places;
}

/** Line numbers count only if those of all hunks with one place are right. */
function byNumber(found: readonly Candidates[]): readonly Candidates[] {
  const isRight = ({ hunk, places }: Candidates): boolean =>
    places.length > 1 || (hunk.start !== undefined && places[0]?.at === hunk.start - 1);
  if (!found.every(isRight)) return found;
  return found.map(({ hunk, places }) => {
    const exact = places.filter(({ at }) => at + 1 === hunk.start);
    return { hunk, places: exact.length === 1 ? exact : places };
  });
}

/** The places of the hunks, if there is only one way to take them in the order of the file. */
function inOrder(found: readonly Candidates[]): readonly HunkPlace[] | undefined {
  if (found.every(({ places }) => places.length === 1)) return found.map(({ places }) => places[0] as HunkPlace);
  // Ways to place the hunks from one on behind a line, at most two of them.
  const ways = new Map<string, number>();
  const countFrom = (index: number, line: number): number => {
    const candidates = found[index];
    if (candidates === undefined) return 1;
    const key = `${index} ${line}`;
    let count = ways.get(key);
    if (count === undefined) {
      count = 0;
      for (const { at, length } of candidates.places) if (at >= line && count < 2) count += countFrom(index + 1, at + length);
      ways.set(key, Math.min(2, count));
    }
    return Math.min(2, count);
  };
  if (countFrom(0, 0) !== 1) return undefined;
  const chosen: HunkPlace[] = [];
  let line = 0;
  for (const [index, { places }] of found.entries()) {
    const from = line;
    const place = places.find(({ at, length }) => at >= from && countFrom(index + 1, at + length) === 1) as HunkPlace;
    chosen.push(place);
    line = place.at + place.length;
  }
  return chosen;
}

/** The edit without the whole lines that stay the same at both ends, so that hunks may share lines around their changes. */
function trimmed({ text }: SearchedText, edit: TextEdit): TextEdit {
  const old = text.slice(edit.start, edit.end);
  const [before, after] = [old.split(/(?<=\n)/), edit.text.split(/(?<=\n)/)];
  let head = 0;
  while (head < before.length - 1 && head < after.length - 1 && before[head] === after[head]) head++;
  let tail = 0;
  while (
    tail < before.length - head - 1 &&
    tail < after.length - head - 1 &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  )
    tail++;
  const length = (lines: readonly string[]): number => lines.reduce((sum, line) => sum + line.length, 0);
  const [from, to] = [length(before.slice(0, head)), length(before.slice(before.length - tail))];
  return {
    start: edit.start + from,
    end: edit.end - to,
    text: edit.text.slice(from, edit.text.length - to),
  };
}

/** Adds or removes the line end at the end of the file if the hunk says so and is there. */
function withLastLineEnd(searched: SearchedText, { lastLineEnd }: Hunk, { at, length }: HunkPlace, edit: TextEdit): readonly TextEdit[] {
  const { text, usualEnd, lines, ends } = searched;
  if (lastLineEnd === undefined || at + length !== lineCount(searched)) return [edit];
  const isEnded = lines.at(-1) === "";
  if (lastLineEnd === "added" && !isEnded)
    return edit.end === text.length
      ? [{ ...edit, text: edit.text + usualEnd }]
      : [edit, { start: text.length, end: text.length, text: usualEnd }];
  if (lastLineEnd === "removed" && isEnded) {
    const start = text.length - (ends.at(-1) as string).length;
    return edit.end >= start
      ? [{ ...edit, end: text.length, text: edit.text.replace(/\r?\n$/, "") }]
      : [edit, { start, end: text.length, text: "" }];
  }
  return [edit];
}

function firstOverlap(edits: readonly TextEdit[]): number | undefined {
  const sorted = edits.toSorted((a, b) => a.start - b.start || a.end - b.end);
  return sorted.find((edit, index) => index > 0 && edit.start < (sorted[index - 1] as TextEdit).end)?.start;
}

function lineOf(searched: SearchedText, place: number): number {
  let line = 0;
  while (line + 1 < searched.lines.length && searched.startOf(line + 1) <= place) line++;
  return line + 1;
}
