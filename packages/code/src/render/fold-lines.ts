import { truncated } from "../text/display-width.ts";
import { printable } from "../text/printable.ts";

/** Keeps the lines of an output that is shown in part. @returns the number under which it can be opened */
export type KeepFolded = (lines: readonly string[]) => number;

export interface FoldOptions {
  readonly maxLines: number;
  readonly columns: number;
  /** Lines of the end to keep; the rest of `maxLines` is the beginning. Failures show at the end. */
  readonly tail?: number;
  /** Default: the lines that are left out cannot be opened. */
  readonly keep?: KeepFolded | undefined;
}

/** The first and last lines of a text, each cut to the width, with a count of what is left out between them. */
export function foldLines(text: string, { maxLines, columns, tail = 0, keep }: FoldOptions): string[] {
  const lines = printable(text)
    .replace(/\s+$/, "")
    .split("\n")
    .map((line) => line.replace(/\t/g, "  "));
  const cut = (line: string): string => truncated(line, columns);
  // A note instead of a single line would save nothing.
  if (lines.length <= maxLines + 1) return lines.map(cut);
  const head = maxLines - tail;
  const note = truncated(foldNote(lines.length - maxLines, keep?.(lines)), columns);
  return [...lines.slice(0, head).map(cut), note, ...(tail > 0 ? lines.slice(-tail).map(cut) : [])];
}

/** The line in place of lines that are left out. */
export function foldNote(left: number, number: number | undefined): string {
  return number === undefined ? `… ${left} more lines` : `… ${left} more lines (Ctrl-O, /open ${number})`;
}
