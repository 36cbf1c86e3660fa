import { stripVTControlCharacters } from "node:util";

// Anything a terminal could obey: C0 but for tab and newline, DEL and C1.
// oxlint-disable-next-line no-control-regex -- finding control characters is the purpose
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
// Marks that reorder or hide what stands beside them ("Trojan Source").
const HIDDEN = /[\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff]/g;
// oxlint-disable-next-line no-control-regex -- see above
const SUSPECT = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff]/;

/**
 * Text of a model or a tool, made safe for a terminal: nothing in it can move the cursor, change the title or the
 * clipboard, or hide text. Whole escape sequences (the colours of a test runner) are dropped; what remains of control
 * characters is shown as a picture of itself.
 */
export function printable(text: string): string {
  if (!SUSPECT.test(text)) return text;
  return stripVTControlCharacters(text)
    .replace(/\r\n/g, "\n")
    .replace(CONTROL, picture)
    .replace(HIDDEN, (character) => `<U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}>`);
}

/** The same on one line: newlines and tabs too become pictures. */
export function printableLine(text: string): string {
  return printable(text).replace(/\n/g, "⏎").replace(/\t/g, " ");
}

function picture(character: string): string {
  const code = character.charCodeAt(0);
  if (code === 0x7f) return "␡";
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : "\ufffd";
}
