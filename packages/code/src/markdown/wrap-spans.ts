import { displayWidth, fitting } from "../text/display-width.ts";
import type { Row, Span } from "./span.ts";

/** A text that stays on one row: a word, a single wide character with its punctuation, or the spaces between words. */
interface Atom {
  readonly spans: Span[];
  width: number;
  readonly isSpace: boolean;
}

// oxlint-disable-next-line no-control-regex -- ASCII is the common case
const ASCII = /^[\u0000-\u007f]*$/;
const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: "grapheme" });
/** Characters of two columns that combine with nothing, which need no segmenter, unless a mark follows. */
const IDEOGRAPHS = /((?:[\u3001-\u3029\u3041-\u3096\u30a1-\u30fa\u3400-\u4dbf\u4e00-\u9fff\uff01-\uff60](?![\p{M}\u200d]))+)/u;
const IDEOGRAPH = /^[\u3001-\u3029\u3041-\u3096\u30a1-\u30fa\u3400-\u4dbf\u4e00-\u9fff\uff01-\uff60]/;
/** Punctuation that no row begins with, and punctuation that no row ends with. */
const CLOSING = /^[、。，．！？）」』】〉》：；・ー々…’”％]/u;
/** Korean has spaces between its words. */
const HANGUL = /^\p{Script=Hangul}/u;
const OPENING = /[（「『【〈《‘“]$/u;

/**
 * Breaks text into rows at spaces and between wide characters. A word that is longer than a row gets a row of its own and stays
 * whole, because a person may copy it: the terminal wraps it.
 */
export function wrapSpans(spans: readonly Span[], columns: number): Row[] {
  return splitLines(spans).flatMap((line) => wrapLine(line, Math.max(1, columns)));
}

/** Cuts rows that are wider than the screen, at any character. For rows that are drawn again. */
export function cutRows(rows: readonly Row[], columns: number): Row[] {
  return rows.flatMap((row) => (fits(row, columns) ? [row] : cutRow(row, columns)));
}

/** Breaks a row after spaces, and longer words at any character. Every character is kept, also the spaces. */
export function breakRow(row: Row, columns: number): Row[] {
  if (fits(row, columns)) return [row];
  const rows: Span[][] = [[]];
  let width = 0;
  for (const word of spacedWords(row)) {
    if (width > 0 && width + word.width > columns) {
      rows.push([]);
      width = 0;
    }
    rows.at(-1)?.push(...word.spans);
    width += word.width;
  }
  return cutRows(rows, columns);
}

/** Words with the spaces after them. */
function spacedWords(row: Row): Atom[] {
  const words: Atom[] = [];
  for (const atom of atomsOf(row)) {
    const last = words.at(-1);
    if (!atom.isSpace || last === undefined) words.push(atom);
    else {
      last.spans.push(...atom.spans);
      last.width += atom.width;
    }
  }
  return words;
}

export function rowWidth(row: Row): number {
  return row.reduce((width, { text }) => width + displayWidth(text), 0);
}

/** The width of the longest text that cannot be broken. */
export function longestWord(spans: readonly Span[]): number {
  return Math.max(0, ...splitLines(spans).flatMap((line) => atomsOf(line).map(({ width, isSpace }) => (isSpace ? 0 : width))));
}

/** The lines of spans whose texts contain newlines. */
export function splitLines(spans: readonly Span[]): Span[][] {
  const lines: Span[][] = [[]];
  for (const { text, look } of spans)
    for (const [index, part] of text.split("\n").entries()) {
      if (index > 0) lines.push([]);
      if (part !== "") lines.at(-1)?.push({ text: part, look });
    }
  return lines;
}

/** True if a row is within the width. Long rows are not measured to their end. */
function fits(row: Row, columns: number): boolean {
  let left = columns;
  for (const { text } of row) {
    const part = fitting(text, left);
    if (part.length < text.length) return false;
    left -= displayWidth(part);
  }
  return true;
}

function wrapLine(line: Span[], columns: number): Row[] {
  if (fits(line, columns)) return [line];
  const rows: Row[] = [];
  let row: Span[] = [];
  let width = 0;
  let space: Atom | undefined;
  for (const atom of atomsOf(line)) {
    if (atom.isSpace) {
      space = atom;
      continue;
    }
    const gap = space?.width ?? 0;
    if (width > 0 && width + gap + atom.width > columns) {
      rows.push(row);
      row = [...atom.spans];
      width = atom.width;
    } else {
      row.push(...(space?.spans ?? []), ...atom.spans);
      width += gap + atom.width;
    }
    space = undefined;
  }
  return [...rows, row];
}

function atomsOf(line: readonly Span[]): Atom[] {
  const atoms: Atom[] = [];
  /** True if no row may break before the next character. */
  let isGlued = false;
  const add = (text: string, width: number, look: Span["look"], isSpace: boolean): void => {
    const last = atoms.at(-1);
    if (last !== undefined && last.isSpace === isSpace && (isGlued || isSpace)) {
      last.spans.push({ text, look });
      last.width += width;
    } else atoms.push({ spans: [{ text, look }], width, isSpace });
    isGlued = true;
  };
  for (const { text, look } of line)
    for (const part of text.split(/( +)/)) {
      if (part === "") continue;
      if (part.startsWith(" ")) add(part, part.length, look, true);
      else if (ASCII.test(part)) add(part, part.length, look, false);
      else addWide(part, look);
    }
  return atoms;

  function addWide(text: string, look: Span["look"]): void {
    for (const part of text.split(IDEOGRAPHS)) {
      if (IDEOGRAPH.test(part)) for (const character of part) addIdeograph(character, 2, look);
      else if (part !== "") addGraphemes(part, look);
    }
  }

  function addGraphemes(text: string, look: Span["look"]): void {
    let word = "";
    const addWord = (): void => {
      if (word === "") return;
      if (CLOSING.test(word)) isGlued = true;
      add(word, displayWidth(word), look, false);
      word = "";
    };
    for (const { segment } of GRAPHEMES.segment(text)) {
      const width = displayWidth(segment);
      if (width < 2 || HANGUL.test(segment)) {
        word += segment;
        continue;
      }
      addWord();
      addIdeograph(segment, width, look);
    }
    addWord();
  }

  /** Adds a character before and after which a row may break. */
  function addIdeograph(character: string, width: number, look: Span["look"]): void {
    isGlued = CLOSING.test(character) || OPENING.test(atoms.at(-1)?.spans.at(-1)?.text ?? "");
    add(character, width, look, false);
    isGlued = OPENING.test(character);
  }
}

function cutRow(row: Row, columns: number): Row[] {
  const rows: Row[] = [];
  let current: Span[] = [];
  let left = columns;
  for (const { text, look } of row) {
    let rest = text;
    while (rest !== "") {
      let part = fitting(rest, left);
      if (part === "" && current.length === 0) part = firstGrapheme(rest);
      if (part !== "") current.push({ text: part, look });
      rest = rest.slice(part.length);
      left -= displayWidth(part);
      if (rest === "") break;
      rows.push(current);
      current = [];
      left = columns;
    }
  }
  return current.length === 0 ? rows : [...rows, current];
}

function firstGrapheme(text: string): string {
  for (const { segment } of GRAPHEMES.segment(text)) return segment;
  return text;
}
