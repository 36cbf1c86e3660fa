// Characters that an editor cannot hold as they are, because they have no column of their own or more than one: tabs, other control characters, and marks
// that hide or reorder text. Each is held as a private character of one column, so that every text that was typed or pasted is sent as it was.

const FIRST = 0xf0000;
// oxlint-disable-next-line no-control-regex -- finding control characters is the purpose
const HELD =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0]/g;
const STAND_IN = /[\u{f0000}-\u{fffff}]/gu;
/** Also the keys of long pastes: see `pasted-texts.ts`. */
const RESERVED = /[\u{f0000}-\u{10ffff}]/gu;

/** Returns a text as the editor holds it, with line ends as newlines. */
export function toEditable(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?/g, "\n")
    .replace(RESERVED, "\ufffd")
    .replace(HELD, (character) => standIn(character));
}

/** Returns the text that the editor's text represents. */
export function fromEditable(text: string): string {
  return text.replace(STAND_IN, (character) => String.fromCodePoint((character.codePointAt(0) ?? FIRST) - FIRST));
}

/** Returns a row of the editor as it is shown, in the same columns. */
export function shownRow(row: string): string {
  return row.replace(STAND_IN, (character) => picture((character.codePointAt(0) ?? FIRST) - FIRST));
}

/** Returns the private character for a character below U+10000. */
export function standIn(character: string): string {
  return String.fromCodePoint(FIRST + character.charCodeAt(0));
}

function picture(code: number): string {
  if (code === 0x09) return "→";
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "␡";
  return code < 0x7f ? String.fromCharCode(code) : "\u00b7";
}
