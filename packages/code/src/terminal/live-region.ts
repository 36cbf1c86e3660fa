import type { LiveRows } from "./live-part.ts";
import { type Reflow, rowsAboveCursor } from "./reflow.ts";
import { frameText, NO_REGION, regionOf } from "./region-frame.ts";

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** The rows at the end of a terminal that are drawn again and again. */
export interface LiveRegion {
  /** Returns what to write so that these lines are above the region, and these rows are the region. No text if nothing differs. */
  frame(finished: readonly string[], rows: LiveRows, size: TerminalSize): string;
  /** Has the next frame write all rows again, because the terminal may have cut or moved them. */
  invalidate(): void;
  /** Forgets the rows that are shown, because another program may have written to the terminal. */
  forget(): void;
}

/** Columns from which on no row of the region is cut by the terminal. */
export const MIN_COLUMNS = 20;

export function createLiveRegion(reflow: Reflow): LiveRegion {
  let shown = NO_REGION;
  /** `undefined` if the cursor is in the row in which the region is to begin, and nothing is known of what is there. */
  let drawnFor: TerminalSize | undefined;
  let isIntact = true;

  /** Returns the rows above the cursor if the region must be written again, or `undefined` if it is shown as it was drawn. */
  function rowsAbove(finished: readonly string[], size: TerminalSize): number | undefined {
    if (drawnFor === undefined) return 0;
    const { lines, cursor } = shown;
    if (!isIntact || size.columns !== drawnFor.columns || size.rows !== drawnFor.rows)
      return rowsAboveCursor({ lines, cursor, ...drawnFor }, size, reflow);
    return finished.length > 0 && size.columns < MIN_COLUMNS ? cursor.row : undefined;
  }

  return {
    frame(finished, rows, size) {
      const region = regionOf(rows, size.columns);
      if (drawnFor === undefined && finished.length === 0 && region.lines.length === 0) return "";
      const text = frameText(shown, { finished, region, rowsAbove: rowsAbove(finished, size) });
      shown = region;
      drawnFor = size;
      isIntact = true;
      return text;
    },
    invalidate() {
      isIntact = false;
    },
    forget() {
      shown = NO_REGION;
      drawnFor = undefined;
    },
  };
}
