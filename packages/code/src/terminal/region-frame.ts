import type { LiveRows } from "./live-part.ts";
import { createRowWriter } from "./row-writer.ts";

/** Rows of the live region as the terminal shows them. */
export interface ShownRegion {
  readonly lines: readonly string[];
  /** Row and column of the terminal's cursor. */
  readonly cursor: { readonly row: number; readonly column: number };
  readonly isCursorShown: boolean;
}

export const NO_REGION: ShownRegion = { lines: [], cursor: { row: 0, column: 0 }, isCursorShown: true };

export interface RegionFrame {
  /** Lines that are written above the region. */
  readonly finished: readonly string[];
  readonly region: ShownRegion;
  /** Rows between the first one of the region and the cursor, if the terminal may have changed them: all of them are written again. */
  readonly rowsAbove?: number | undefined;
}

const BEGIN = "\u001b[?2026h\u001b[?25l";
const SHOW_CURSOR = "\u001b[?25h";
const END = "\u001b[?2026l";

/** Returns the region that a terminal with so many columns shows after a frame with these rows. */
export function regionOf({ lines, cursor }: LiveRows, columns: number): ShownRegion {
  if (lines.length === 0) return NO_REGION;
  const { row, column } = cursor ?? { row: lines.length - 1, column: 0 };
  return { lines, cursor: { row, column: Math.min(column, columns - 1) }, isCursorShown: cursor !== undefined };
}

/** Returns the text of the frame that turns one region into another, or no text if nothing differs. Rows that are equal are not written. */
export function frameText(shown: ShownRegion, { finished, region, rowsAbove }: RegionFrame): string {
  const old = rowsAbove === undefined ? shown.lines : [];
  const cursor = { row: rowsAbove ?? shown.cursor.row, column: rowsAbove === undefined ? shown.cursor.column : Number.NaN };
  const rows = createRowWriter({ cursor, rows: old.length });
  const lines = [...finished, ...region.lines];
  // Finished lines push all rows below them down, so that only rows before the first change stay.
  const kept = finished.length === 0 ? 0 : sharedRows(old, lines);
  if (rowsAbove !== undefined) rows.eraseFrom(0);
  else if (finished.length > 0 && kept < old.length) rows.eraseFrom(kept);
  for (const [row, line] of lines.entries()) {
    if (row < kept || (finished.length === 0 && line === old[row])) continue;
    if (row < finished.length) rows.finish(row, line);
    else rows.replace(row, line);
  }
  if (finished.length === 0 && lines.length < old.length) rows.eraseFrom(lines.length);
  rows.place(finished.length + region.cursor.row, region.cursor.column);
  const written = rows.text();
  if (written === "" && region.isCursorShown === shown.isCursorShown) return "";
  return `${BEGIN}${written}${region.isCursorShown ? SHOW_CURSOR : ""}${END}`;
}

function sharedRows(old: readonly string[], lines: readonly string[]): number {
  const differing = old.findIndex((line, row) => line !== lines[row]);
  return differing === -1 ? old.length : differing;
}
