/** The rows that a part of the live region shows. */
export interface LiveRows {
  /** Painted lines of at most the columns that were given. */
  readonly lines: readonly string[];
  /** Place of the terminal's cursor: an index into `lines`, and a column from 0. */
  readonly cursor?: { readonly row: number; readonly column: number } | undefined;
}

/** The room that a part may take. */
export interface LiveRoom {
  readonly columns: number;
  /**
   * Rows of the whole region at first. If the parts do not fit, those that take too much are asked again, with the rows that are left to them; one that
   * returns more lines loses its first ones, but never that of its cursor.
   */
  readonly rows: number;
}

/**
 * A part of the live region. The screen asks it for its lines at each frame, so it follows every width by itself. If several parts have a
 * cursor, that of the lowest is used.
 */
export interface LivePart {
  rows(room: LiveRoom): LiveRows;
}

/**
 * The places of the live region, from top to bottom: text that still grows, what works now with the list of tasks, the question
 * that is open, the input with its menu, and the status line. Where there is too little room the places give way in this order.
 */
export const LIVE_PLACES = ["words", "activity", "question", "input", "status"] as const;

export type LivePlace = (typeof LIVE_PLACES)[number];
