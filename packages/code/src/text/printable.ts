import { stripVTControlCharacters } from "node:util";

// Anything a terminal could obey: C0 but for tab and newline, DEL and C1.
// oxlint-disable-next-line no-control-regex -- finding control characters is the purpose
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
// Marks that reorder or hide what stands beside them ("Trojan Source"), and characters that nobody sees, in which text can be hidden.
const UNSEEN =
  "\\u061c\\u115f\\u1160\\u180e\\u200b\\u200e\\u200f\\u2028\\u2029\\u202a-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\u{e0000}-\\u{e007f}\\u{e0100}-\\u{e01ef}";
/** A flag of a region, such as that of Scotland, is spelled in tags. */
const REGION_FLAG = "\\u{1f3f4}[\\u{e0030}-\\u{e0039}\\u{e0061}-\\u{e007a}]{3,6}\\u{e007f}";
const HIDDEN = new RegExp(`(${REGION_FLAG})|[${UNSEEN}]`, "gu");
const SUSPECT = new RegExp(`[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f${UNSEEN}]`, "u");

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
    .replace(HIDDEN, (character, flag: string | undefined) => flag ?? `<U+${codeOf(character)}>`);
}

function codeOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
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
