import { composeLines } from "./compose-lines.ts";
import type { TextEdit } from "./editable-text.ts";
import type { Hunk } from "./file-patch.ts";
import { driftedBlock, driftedPlaces } from "./find-drifted.ts";
import { type FoundBlock, shiftedBlock, shiftedPlaces } from "./find-shifted.ts";
import { FOLDS, type Fold, foldText } from "./fold-text.ts";
import { driftNote, FOLD_NOTES, type SearchedText, SHIFT_NOTE } from "./place-edit.ts";

/** A place of the lines of a hunk in the file. */
export interface HunkPlace {
  /** The first line, from 0. */
  readonly at: number;
  /** The number of lines there. */
  readonly length: number;
  readonly notes: readonly string[];
  /** Returns the edit that makes the change there; `undefined` if it cannot be made safely. */
  edit(): TextEdit | undefined;
}

/** A hunk as lines before and after the change. */
interface Reading {
  readonly old: readonly string[];
  readonly wanted: readonly string[];
  readonly note: string | undefined;
}

/** Returns the places of a hunk, by the strictest way of comparing that finds any. */
export function findHunk(searched: SearchedText, hunk: Hunk): readonly HunkPlace[] {
  const readings = readingsOf(hunk);
  for (const find of [foldedPlaces, shifted, drifted])
    for (const reading of readings) {
      const places = find(searched, reading);
      if (places.length > 0) return places;
    }
  return [];
}

/** The number of lines of a text, without the empty one behind a line end at its end. */
export function lineCount({ lines }: SearchedText): number {
  return lines.at(-1) === "" ? lines.length - 1 : lines.length;
}

/** A hunk as it should be read, and as models also write it. */
function readingsOf({ lines }: Hunk): readonly Reading[] {
  const read = (given: Hunk["lines"], note?: string): Reading => ({
    old: given.filter(({ kind }) => kind !== "added").map(({ text }) => text),
    wanted: given.filter(({ kind }) => kind !== "removed").map(({ text }) => text),
    note,
  });
  const readings = [read(lines)];
  const first = lines.findIndex(({ kind, text }) => kind !== "context" || text.trim() !== "");
  const last = lines.findLastIndex(({ kind, text }) => kind !== "context" || text.trim() !== "");
  if (first > 0 || last < lines.length - 1)
    readings.push(read(lines.slice(first, last + 1), "blank lines around the change are not in the file"));
  const unmarked = lines.map((line) => (line.kind === "context" ? { ...line, text: line.raw } : line));
  if (lines.some(({ kind, text, raw }) => kind === "context" && text !== raw))
    readings.push(read(unmarked, "lines around the change lack the blank that marks them"));
  const changed = lines.filter(({ kind, text }) => kind !== "context" && text !== "");
  if (changed.some(({ kind }) => kind === "removed") && changed.every(({ text }) => text.startsWith(" "))) {
    const spaced = lines.map((line) => (line.kind === "context" ? line : { ...line, text: line.text.slice(1) }));
    readings.push(read(spaced, 'a blank follows each "-" and "+"'));
  }
  return readings.filter(({ old }) => old.some((line) => line.trim() !== ""));
}

function foldedPlaces(searched: SearchedText, { old, wanted, note }: Reading): HunkPlace[] {
  const count = lineCount(searched);
  for (const fold of FOLDS) {
    const there = searched.folded(fold).text.split("\n");
    const given = old.map((line) => foldText(line, fold).text);
    const places: HunkPlace[] = [];
    for (let at = 0; at + given.length <= count; at++)
      if (given.every((line, index) => line === there[at + index])) {
        const notes = [note, FOLD_NOTES[fold]].filter((each) => each !== undefined);
        places.push({ at, length: old.length, notes, edit: () => replaceLines(searched, { at, old, wanted }, fold) });
      }
    if (places.length > 0) return places;
  }
  return [];
}

function shifted(searched: SearchedText, { old, wanted, note }: Reading): HunkPlace[] {
  const lines = searched.indented().slice(0, lineCount(searched));
  const notes = [note, SHIFT_NOTE].filter((each) => each !== undefined);
  return shiftedPlaces(lines, old).map((at) => ({
    at,
    length: old.length,
    notes,
    edit() {
      const block = shiftedBlock(lines, at, old, wanted);
      return block && replaceLines(searched, block, "unicode-forms");
    },
  }));
}

function drifted(searched: SearchedText, { old, wanted, note }: Reading): HunkPlace[] {
  const lines = searched.indented().slice(0, lineCount(searched));
  return driftedPlaces(lines, old).map((place) => ({
    at: place.at,
    length: old.length,
    notes: [note, driftNote(searched, place.at + place.drifted)].filter((each) => each !== undefined),
    edit() {
      const block = driftedBlock(searched.lines, place, old, wanted);
      return block && replaceLines(searched, block, "unicode-forms");
    },
  }));
}

/** Replaces whole lines. Without new lines, the line ends are removed, too. */
function replaceLines(searched: SearchedText, { at, old, wanted }: FoundBlock, fold: Fold): TextEdit {
  const { text, lines, ends, usualEnd } = searched;
  const last = at + old.length - 1;
  const start = searched.startOf(at);
  if (wanted.length === 0) {
    const end = searched.startOf(last + 1);
    // The last line of a file without a line end takes the one before along.
    const from = last === lines.length - 1 && at > 0 ? start - (ends[at - 1] as string).length : start;
    return { start: from, end: last === lines.length - 1 ? text.length : end, text: "" };
  }
  const found = { lines: lines.slice(at, last + 1), ends: ends.slice(at, last) };
  const end = searched.startOf(last) + (lines[last] as string).length;
  return { start, end, text: composeLines({ found, old, wanted, fold, usualEnd }) };
}
