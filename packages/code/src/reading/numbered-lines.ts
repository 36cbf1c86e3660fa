import { estimateTokens } from "./estimate-tokens.ts";

/** Longer lines are cut; the rest of them is read by characters. */
export const MAX_LINE_CHARACTERS = 2000;

/** The room for lines: reduced by each region that is shown. */
export interface TokenRoom {
  tokens: number;
}

export interface NumberedLines {
  readonly shown: readonly string[];
  /** The first line that had no room. `undefined` if all are shown. */
  readonly next: number | undefined;
  /** True if a line is cut. */
  readonly isCut: boolean;
}

/**
 * Shows lines with their numbers, as many as there is room for, and at least one.
 * @param lineAt returns the line of a number
 */
export function numberLines(
  lineAt: (number: number) => string,
  { start, end }: { readonly start: number; readonly end: number },
  room: TokenRoom,
  { maxLineCharacters = MAX_LINE_CHARACTERS }: { readonly maxLineCharacters?: number } = {},
): NumberedLines {
  const shown: string[] = [];
  let isCut = false;
  for (let number = start; number <= end; number++) {
    const line = lineAt(number);
    const text = `${number}\t${cutLine(line, number, maxLineCharacters)}`;
    const tokens = estimateTokens(text) + 1;
    if (tokens > room.tokens && shown.length > 0) return { shown, next: number, isCut };
    room.tokens -= tokens;
    shown.push(text);
    isCut ||= line.length > maxLineCharacters;
  }
  return { shown, next: undefined, isCut };
}

function cutLine(line: string, number: number, maxCharacters: number): string {
  if (line.length <= maxCharacters) return line;
  const end = wholeCharacters(line, maxCharacters);
  return `${line.slice(0, end)} [... ${(line.length - end).toLocaleString("en-US")} more characters in this line: ranges ["${number}:${end + 1}-"]]`;
}

/** Characters of one line with their place, as many as there is room for. */
export function showCharacters(
  line: string,
  number: number,
  { from, to = line.length }: { readonly from: number; readonly to?: number },
  room: TokenRoom,
): string {
  const total = line.length.toLocaleString("en-US");
  if (from > line.length) return `[Line ${number} has ${total} characters; character ${from} is behind its end.]`;
  const start = wholeCharacters(line, from - 1);
  let end = wholeCharacters(line, Math.min(to, line.length));
  while (end - start > 1 && estimateTokens(line.slice(start, end)) > room.tokens)
    end = wholeCharacters(line, start + Math.floor((end - start) * 0.8));
  if (end <= start) end = Math.min(line.length, start + 2);
  const text = line.slice(start, end);
  room.tokens -= estimateTokens(text);
  const more = end < line.length ? ` Read on with ranges ["${number}:${end + 1}-"].` : "";
  return `${number}:${start + 1}-${end}\t${text}\n[Characters ${start + 1} to ${end} of ${total} in line ${number}.${more}]`;
}

/** Moves an end in front of a character that it would divide. */
function wholeCharacters(line: string, end: number): number {
  const code = line.charCodeAt(end - 1);
  return end > 0 && end < line.length && code >= 0xd800 && code <= 0xdbff ? end - 1 : end;
}
