import type { Tokens } from "marked";
import { type InlineOptions, inlineSpans } from "./inline-spans.ts";
import { type Look, PLAIN, type Row, type Span } from "./span.ts";
import { longestWord, rowWidth, splitLines, wrapSpans } from "./wrap-spans.ts";

export interface TableOptions extends InlineOptions {
  readonly columns: number;
  readonly look?: Look;
}

type Cells = readonly (readonly Span[])[];

const FRAME: Look = { role: "frame" };

/**
 * A table with lines around its cells. Where the longest words of its columns do not fit side by side, each row becomes a list of
 * its cells under their headings, because no word is cut.
 */
export function renderTable({ header, rows, align }: Tokens.Table, options: TableOptions): Row[] {
  const { look = PLAIN } = options;
  const head = header.map(({ tokens }) => inlineSpans(tokens, options, { ...look, bold: true }));
  const body = rows.map((row) => row.map(({ tokens }) => inlineSpans(tokens, options, look)));
  const widths = columnWidths([head, ...body], options.columns);
  if (widths === undefined)
    return body.length === 0 ? head.flatMap((cell) => wrapSpans(cell, options.columns)) : listed(head, body, options.columns);
  const line = (left: string, middle: string, right: string): Row => [
    { text: `${left}${widths.map((width) => "─".repeat(width + 2)).join(middle)}${right}`, look: FRAME },
  ];
  const grid = body.map((cells) => gridRows(cells, widths, align));
  // Lines between the rows are needed only where a row is not one line.
  const isTall = grid.some((lines) => lines.length > 1);
  return [
    line("┌", "┬", "┐"),
    ...gridRows(head, widths, align),
    line("├", "┼", "┤"),
    ...grid.flatMap((lines, index) => (isTall && index > 0 ? [line("├", "┼", "┤"), ...lines] : lines)),
    line("└", "┴", "┘"),
  ];
}

/** Widths at which no word is cut; `undefined` if there are none. */
function columnWidths(rows: readonly Cells[], columns: number): number[] | undefined {
  const count = rows[0]?.length ?? 0;
  const room = columns - 3 * count - 1;
  const at = (measure: (cell: readonly Span[]) => number): number[] =>
    Array.from({ length: count }, (_, index) => Math.max(1, ...rows.map((row) => measure(row[index] ?? []))));
  const wished = at((cell) => Math.max(0, ...splitLines(cell).map(rowWidth)));
  if (sum(wished) <= room) return wished;
  const widths = at(longestWord);
  let left = room - sum(widths);
  if (left < 0) return undefined;
  const missing = wished.map((width, index) => width - (widths[index] ?? 0));
  const total = sum(missing);
  for (const [index, width] of missing.entries()) widths[index] = (widths[index] ?? 0) + Math.floor((width * left) / total);
  left = room - sum(widths);
  for (const [index, width] of wished.entries()) {
    const added = Math.min(left, Math.max(0, width - (widths[index] ?? 0)), 1);
    widths[index] = (widths[index] ?? 0) + added;
    left -= added;
  }
  return widths;
}

function gridRows(cells: Cells, widths: readonly number[], align: Tokens.Table["align"]): Row[] {
  const wrapped = widths.map((width, index) => wrapSpans(cells[index] ?? [], width));
  const height = Math.max(...wrapped.map((rows) => rows.length));
  return Array.from({ length: height }, (_, line) => [
    { text: "│ ", look: FRAME },
    ...widths.flatMap((width, index) => [
      ...(index > 0 ? [{ text: " │ ", look: FRAME }] : []),
      ...padded(wrapped[index]?.[line] ?? [], width, align[index] ?? "left"),
    ]),
    { text: " │", look: FRAME },
  ]);
}

function padded(row: Row, width: number, align: "left" | "center" | "right"): Row {
  const free = Math.max(0, width - rowWidth(row));
  const before = align === "right" ? free : align === "center" ? Math.floor(free / 2) : 0;
  return [{ text: " ".repeat(before), look: PLAIN }, ...row, { text: " ".repeat(free - before), look: PLAIN }];
}

function listed(head: Cells, body: readonly Cells[], columns: number): Row[] {
  return body.flatMap((cells, index) => [
    ...(index > 0 ? [[]] : []),
    ...head.flatMap((heading, at) => wrapSpans([...heading, { text: ": ", look: { bold: true } }, ...(cells[at] ?? [])], columns)),
  ]);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
