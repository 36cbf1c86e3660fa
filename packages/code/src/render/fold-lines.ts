import { truncated } from "../text/display-width.ts";
import { printable } from "../text/printable.ts";

export interface FoldOptions {
  readonly maxLines: number;
  readonly columns: number;
  /** Lines of the end to keep; the rest of `maxLines` is the beginning. Failures show at the end. */
  readonly tail?: number;
}

/** The first and last lines of a text, each cut to the width, with a count of what is left out between them. */
export function foldLines(text: string, { maxLines, columns, tail = 0 }: FoldOptions): string[] {
  const lines = printable(text).replace(/\s+$/, "").split("\n");
  const cut = (line: string): string => truncated(line.replace(/\t/g, "  "), columns);
  // A note instead of a single line would save nothing.
  if (lines.length <= maxLines + 1) return lines.map(cut);
  const head = maxLines - tail;
  const left = lines.length - maxLines;
  return [...lines.slice(0, head).map(cut), `… ${left} more lines`, ...(tail > 0 ? lines.slice(-tail).map(cut) : [])];
}
