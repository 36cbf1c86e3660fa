import { LIVE_PLACES, type LivePart, type LivePlace, type LiveRoom, type LiveRows } from "./live-part.ts";

/** The parts of the live region by their places. */
export type LiveParts = { readonly [place in LivePlace]?: LivePart | undefined };

/**
 * Returns the rows of the live region, at most as many as there is room for. The places give way from the first to the last; each keeps a row
 * while there are as many rows as places, and the row of the cursor always stays. If several parts have a cursor, the lowest one is used.
 */
export function layoutParts(parts: LiveParts, room: LiveRoom): LiveRows {
  const asked = LIVE_PLACES.flatMap((place) => {
    const part = parts[place];
    const shown = part?.rows(room);
    return part === undefined || shown === undefined || shown.lines.length === 0 ? [] : [{ part, shown }];
  });
  const height = asked.reduce((rows, { shown }) => rows + shown.lines.length, 0);
  if (height <= room.rows) return joined(asked.map(({ shown }) => shown));

  const withCursor = asked.findLast(({ shown }) => shown.cursor !== undefined);
  const kept = [...asked];
  while (kept.length > Math.max(1, room.rows)) kept.splice(kept[0] === withCursor ? 1 : 0, 1);
  let left = Math.max(1, room.rows);
  const fitted: LiveRows[] = [];
  for (const [index, { part, shown }] of [...kept.entries()].reverse()) {
    // Each place above keeps a row.
    const rows = left - index;
    const fits = shown.lines.length <= rows ? shown : cut(part.rows({ columns: room.columns, rows }), rows);
    fitted.unshift(fits);
    left -= fits.lines.length;
  }
  return joined(fitted);
}

/** Returns a part that shows the rows of several parts below each other. */
export function stackedParts(parts: readonly LivePart[]): LivePart {
  return {
    rows({ columns, rows }) {
      let left = rows;
      return joined(
        parts.map((part) => {
          const shown = part.rows({ columns, rows: Math.max(1, left) });
          left -= shown.lines.length;
          return shown;
        }),
      );
    },
  };
}

/** Returns the last rows of a part, or those from its cursor on if that is above them. */
function cut({ lines, cursor }: LiveRows, rows: number): LiveRows {
  if (lines.length <= rows) return { lines, cursor };
  const start = Math.max(0, Math.min(lines.length - rows, cursor?.row ?? Number.POSITIVE_INFINITY));
  return {
    lines: lines.slice(start, start + rows),
    cursor: cursor && { row: cursor.row - start, column: cursor.column },
  };
}

function joined(parts: readonly LiveRows[]): LiveRows {
  const lines: string[] = [];
  let cursor: LiveRows["cursor"];
  for (const part of parts) {
    if (part.cursor !== undefined) cursor = { row: lines.length + part.cursor.row, column: part.cursor.column };
    lines.push(...part.lines);
  }
  return { lines, cursor };
}
