/** The first key of an input. `length` counts the characters that it takes. */
export interface KeyToken {
  readonly sequence: string;
  readonly length: number;
}

const ESC = "\u001b";
// oxlint-disable-next-line no-control-regex -- control characters are keys of their own
const TEXT = /^[^\u0000-\u001f\u007f]+/;
/** Headers of strings that terminals answer with. Other characters after `ESC ]` are typed: Alt-] and text. */
const STRING_HEADERS: { readonly [introducer: string]: RegExp } = { "]": /^\d/, "P": /^[\d>!=?$+|]/, "_": /^G/ };
const MAX_STRING = 64 * 1024;

/**
 * Returns the first key of a text; `undefined` if more of it must arrive.
 * @param isComplete true if no more arrives: the beginning of a sequence is keys then
 */
export function nextToken(text: string, isComplete: boolean): KeyToken | undefined {
  if (!text.startsWith(ESC)) return token(TEXT.exec(text)?.[0] ?? text.charAt(0));
  const second = text.charAt(1);
  if (second === "") return isComplete ? token(ESC) : undefined;
  const found = readerOf(second)(text);
  if (found !== "incomplete") return found;
  if (!isComplete) return undefined;
  return second === ESC ? token(ESC) : token(text.slice(0, 2));
}

function readerOf(second: string): (text: string) => KeyToken | "incomplete" {
  if (second === "[") return controlToken;
  if (second === "O") return singleShiftToken;
  return Object.hasOwn(STRING_HEADERS, second) ? stringToken : metaToken;
}

/** True for the beginning of a string that only a terminal sends. */
export function beginsString(text: string): boolean {
  return text.startsWith(ESC) && STRING_HEADERS[text.charAt(1)]?.test(text.slice(2)) === true;
}

/** Control sequences: parameters, intermediates, and a final character. */
function controlToken(text: string): KeyToken | "incomplete" {
  // Function keys of the Linux console have a second bracket; old mouse reports have three bytes after their `M`.
  const special = /^\u001b\[(?:\[[^]?|M[^]{0,3})/.exec(text)?.[0];
  if (special !== undefined) return special.length === (special.charAt(2) === "[" ? 4 : 6) ? token(special) : "incomplete";
  const found = /^\u001b\[[0-?]*[ -/]*/.exec(text)?.[0] ?? "";
  // Some terminals end keys with a dollar sign, which the standard has as an intermediate.
  if (/^\u001b\[[235-8]\$$/.test(found)) return token(found);
  const final = text.charAt(found.length);
  if (final === "") return "incomplete";
  if (/[@-~]/.test(final)) return token(found + final);
  return token(text.slice(0, 2));
}

function singleShiftToken(text: string): KeyToken | "incomplete" {
  const third = text.charAt(2);
  if (third === "") return "incomplete";
  return /[A-Za-z]/.test(third) ? token(text.slice(0, 3)) : token(text.slice(0, 2));
}

/** Strings end with BEL or ST; a control character in them ends them without effect. */
function stringToken(text: string): KeyToken | "incomplete" {
  const header = text.slice(2);
  if (header === "") return "incomplete";
  if (!beginsString(text)) return token(text.slice(0, 2));
  // oxlint-disable-next-line no-control-regex -- the ends of a string are control characters
  const end = /[\u0007\u0018\u001a\u009c]|\u001b(?:\\|(?=[^\\]))/.exec(header);
  if (end !== null) return token(text.slice(0, 2 + end.index + end[0].length - (end[0] === ESC ? 1 : 0)));
  return header.length > MAX_STRING ? token(text.slice(0, 2)) : "incomplete";
}

function metaToken(text: string): KeyToken | "incomplete" {
  if (text.charAt(1) !== ESC) return token(ESC + String.fromCodePoint(text.codePointAt(1) ?? 0));
  // Some terminals send Alt and an arrow as Esc and the arrow.
  const arrow = /^\u001b\u001b(?:[[O](?:[A-D]|$)|$)/.exec(text)?.[0];
  if (arrow === undefined) return token(ESC);
  return arrow.length === 4 ? { sequence: `${ESC}[1;3${arrow.charAt(3)}`, length: 4 } : "incomplete";
}

function token(sequence: string): KeyToken {
  return { sequence, length: sequence.length };
}

/** True for messages of the terminal, which are never typed: focus, answers to queries, strings, and the mouse. */
export function isReport(sequence: string): boolean {
  if (!sequence.startsWith(ESC) || sequence.length < 3) return false;
  if (sequence.charAt(1) !== "[") return beginsString(sequence);
  const rest = sequence.slice(2);
  return /^(?:[IO]|[?>=<].*|M[^]{3}|\d+;\d+R|\d*n|\d+(?:;\d+)*t)$/.test(rest);
}
