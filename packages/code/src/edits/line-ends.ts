/** The end of a line. */
export type LineEnd = "\n" | "\r\n" | "\r";

/** A text as lines. */
export interface TextLines {
  /** Lines without their ends. A text that ends with a line end has an empty last line. */
  readonly lines: readonly string[];
  /** The ends of all lines but the last. */
  readonly ends: readonly LineEnd[];
}

/** True if a text uses a carriage return alone as line end, as texts of old Macs do. */
export function usesReturns(text: string): boolean {
  return text.includes("\r") && !text.includes("\n");
}

/** Returns a given text with line feeds as line ends. */
export function withLineFeeds(text: string, returnsEnd: boolean): string {
  return text.includes("\r") ? text.replace(returnsEnd ? /\r\n?/g : /\r\n/g, "\n") : text;
}

/** Splits a text into lines. A carriage return alone ends a line only in a text without line feeds. */
export function textLines(text: string): TextLines {
  const lines: string[] = [];
  const ends: LineEnd[] = [];
  let from = 0;
  for (const { index, 0: end } of text.matchAll(usesReturns(text) ? /\r/g : /\r?\n/g)) {
    lines.push(text.slice(from, index));
    ends.push(end as LineEnd);
    from = index + end.length;
  }
  lines.push(text.slice(from));
  return { lines, ends };
}

/** The line end that a text uses most. LF if it has none. */
export function usualLineEnd(text: string): LineEnd {
  if (!text.includes("\r")) return "\n";
  const all = text.split("\n").length - 1;
  if (all === 0) return "\r";
  return 2 * (text.split("\r\n").length - 1) > all ? "\r\n" : "\n";
}

/** The number of the line that holds a place of a text, from 1. */
export function lineNumberAt(text: string, place: number): number {
  const end = text.includes("\n") ? "\n" : "\r";
  let line = 1;
  for (let at = text.indexOf(end); at !== -1 && at < place; at = text.indexOf(end, at + 1)) line++;
  return line;
}
