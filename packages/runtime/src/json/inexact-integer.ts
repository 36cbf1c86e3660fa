import { MAX_JSON_DEPTH } from "./max-json-depth.ts";

/** An integer in a JSON text whose nearest double prints other digits. */
export interface InexactInteger {
  /** The place of its first character in the text, and of the first one behind it. */
  readonly start: number;
  readonly end: number;
  /** The member names and indexes that lead to it, from the top; empty if it is deeper than any value that is used. */
  readonly path: readonly (string | number)[];
  /** The number as it is written in the text. */
  readonly digits: string;
}

const QUOTE = 34;
const PLUS = 43;
const COMMA = 44;
const MINUS = 45;
const LETTER_E = 101;
const DECIMAL = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/** Doubles keep this many digits of any number. */
const EXACT_DIGITS = 15;
/** Shorter exponents do not lead past the largest double. */
const OVERFLOW_DIGITS = 3;

/**
 * True if a text may hold a number of more than 15 digits or with an exponent of three. Checks every third character only, since
 * every event of a stream is asked about.
 */
export function mayHoldInexactInteger(text: string): boolean {
  const { length } = text;
  for (let at = OVERFLOW_DIGITS - 1; at < length; at += OVERFLOW_DIGITS) {
    if (!isDigitOrPoint(text.charCodeAt(at))) continue;
    let start = at;
    while (start > 0 && isDigitOrPoint(text.charCodeAt(start - 1))) start -= 1;
    while (at + 1 < length && isDigitOrPoint(text.charCodeAt(at + 1))) at += 1;
    const count = at - start + 1;
    if (count > EXACT_DIGITS) return true;
    const sign = text.charCodeAt(start - 1) === PLUS ? 1 : 0;
    // The bit is what lower case adds.
    if (count >= OVERFLOW_DIGITS && (text.charCodeAt(start - 1 - sign) | 32) === LETTER_E) return true;
  }
  return false;
}

/** True if a number, as JSON writes it, is an integer whose nearest double prints other digits: `9007199254740993`, `1e400`. */
export function isInexactInteger(source: string): boolean {
  if (source.length <= EXACT_DIGITS && !/e/i.test(source)) return false;
  const exact = decimalOf(source);
  if (exact === undefined || exact.exponent < 0) return false;
  const double = Number(source);
  if (!Number.isFinite(double)) return true;
  const printed = decimalOf(String(double));
  return exact.digits !== printed?.digits || exact.exponent !== printed.exponent;
}

/** The inexact integers of a text that is valid JSON, in their order. */
export function findInexactIntegers(text: string): readonly InexactInteger[] {
  const found: InexactInteger[] = [];
  const open: Container[] = [];
  let at = 0;
  while (at < text.length) {
    const unit = text.charCodeAt(at);
    const container = open.at(-1);
    if (unit === QUOTE) {
      const end = stringEnd(text, at + 1);
      if (container?.expectsName === true) {
        container.name = [at, end];
        container.expectsName = false;
      }
      at = end;
    } else if (unit === MINUS || isDigitOrPoint(unit)) {
      const end = numberEnd(text, at + 1);
      const digits = text.slice(at, end);
      if (isInexactInteger(digits))
        found.push({ start: at, end, path: open.length > MAX_JSON_DEPTH ? [] : open.map((one) => stepOf(one, text)), digits });
      at = end;
    } else {
      const char = text[at];
      if (char === "{") open.push({ name: undefined, index: -1, expectsName: true });
      else if (char === "[") open.push({ name: undefined, index: 0, expectsName: false });
      else if (char === "}" || char === "]") open.pop();
      else if (unit === COMMA && container !== undefined) {
        if (container.index < 0) container.expectsName = true;
        else container.index += 1;
      }
      at += 1;
    }
  }
  return found;
}

interface Container {
  /** The place of the name of an object's last member, with its quotes. */
  name: readonly [start: number, end: number] | undefined;
  /** The index of a list's last item; -1 for an object. */
  index: number;
  expectsName: boolean;
}

function stepOf({ name, index }: Container, text: string): string | number {
  return name === undefined ? index : (JSON.parse(text.slice(...name)) as string);
}

/** @returns the place behind the closing quote of the string whose first character is at `from` */
function stringEnd(text: string, from: number): number {
  let end = text.indexOf('"', from);
  while (end >= 0 && isEscaped(text, end, from)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end + 1;
}

function isEscaped(text: string, at: number, from: number): boolean {
  let before = at;
  while (before > from && text[before - 1] === "\\") before -= 1;
  return (at - before) % 2 === 1;
}

const NUMBER_REST = /[-+.0-9eE]*/y;

function numberEnd(text: string, from: number): number {
  NUMBER_REST.lastIndex = from;
  NUMBER_REST.test(text);
  return NUMBER_REST.lastIndex;
}

function isDigitOrPoint(unit: number): boolean {
  return (unit >= 48 && unit <= 57) || unit === 46;
}

/** A number without its sign: digits that neither begin nor end with a zero, times a power of ten. */
function decimalOf(source: string): { readonly digits: string; readonly exponent: number } | undefined {
  const parts = DECIMAL.exec(source);
  if (parts === null) return undefined;
  const [, whole = "", fraction = "", exponent = "0"] = parts;
  const all = whole + fraction;
  let start = 0;
  while (all[start] === "0") start += 1;
  if (start === all.length) return { digits: "", exponent: 0 };
  let end = all.length;
  while (all[end - 1] === "0") end -= 1;
  return { digits: all.slice(start, end), exponent: Number(exponent) - fraction.length + (all.length - end) };
}
