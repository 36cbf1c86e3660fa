import type { LivePart, LiveRows } from "./live-part.ts";

/** Joins parts into one, from top to bottom. The last one with a cursor has the cursor of the whole, and gets the room first. */
export function stackedPart(...parts: readonly LivePart[]): LivePart {
  return {
    rows({ columns, rows }) {
      let left = rows;
      let joined: LiveRows = { lines: [] };
      for (const part of parts.toReversed()) {
        if (left <= 0) break;
        const { lines, cursor } = part.rows({ columns, rows: left });
        const shown = lines.slice(-left);
        left -= shown.length;
        const own = cursor && { row: cursor.row - (lines.length - shown.length), column: cursor.column };
        const below = joined.cursor && { row: joined.cursor.row + shown.length, column: joined.cursor.column };
        joined = { lines: [...shown, ...joined.lines], cursor: below ?? own };
      }
      return joined;
    },
  };
}
