import type { LogId, LogRecord } from "@keelson/protocol";
import { deletedLog } from "../kit/log-conflict.ts";
import type { RecordSource } from "../kit/read-records.ts";
import { type AppendRow, damagedRow, recordsIn } from "./sqlite-append-row.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";
import type { ForeignWatch } from "./sqlite-foreign-watch.ts";
import { SEQ_BITS, SEQ_MASK } from "./sqlite-schema.ts";
import { findSegment, openSegment, type Segment, SEGMENT_OF_NEXT } from "./sqlite-segments.ts";

/**
 * A page ends behind so many records or so much text, whichever comes first, so that a log of large records is never held whole and nobody
 * else waits long for one. Many want only the first few, so the first page is short.
 */
const FIRST_PAGE = 8;
const LONGEST_PAGE = 256;
const TEXT_PER_PAGE = 256 * 1024;

// One statement, hence one snapshot: a log that is deleted meanwhile is seen whole or not at all. The first append is the one that
// holds the record after `?2`; there is none where a segment holds it.
const PAGE = `
  SELECT l.id, s.place & ${SEQ_MASK} AS segment, a.place & ${SEQ_MASK} AS seq, a.at, a.names, a.data
  FROM logs l LEFT JOIN segments s ON ${SEGMENT_OF_NEXT}
  LEFT JOIN appends a ON s.place IS NULL AND a.place < (l.id + 1) << ${SEQ_BITS} AND a.place + a.records > (l.id << ${SEQ_BITS} | ?2 + 1)
    AND a.place >= coalesce((SELECT max(place) FROM appends WHERE place <= (l.id << ${SEQ_BITS} | ?2 + 1)), l.id << ${SEQ_BITS})
    AND a.place > l.id << ${SEQ_BITS}
  WHERE l.name = ?1 ORDER BY a.place LIMIT ?3`;

/** `seq` is null where there is nothing to read, `segment` where no segment holds the next record. */
type PageRow = { readonly id: number; readonly segment: number | null } & (AppendRow | { readonly seq: null });

export function createSqliteRecordSource(of: {
  readonly database: SqliteDatabase;
  readonly log: LogId;
  readonly foreignWatch: ForeignWatch;
  assertOpen(): void;
}): RecordSource {
  const { database, log, foreignWatch, assertOpen } = of;
  /** The number of the log that was read first; another one means that it was deleted and made again. */
  let seenId: number | undefined;
  let most = FIRST_PAGE;

  /** The records behind `after`, or the segment that holds them. */
  function look(after: number): readonly LogRecord[] | Segment {
    const page: LogRecord[] = [];
    let text = 0;
    let id: number | undefined;
    let segment: number | null = null;
    try {
      for (const row of database.prepare(PAGE).iterate(log, after, most) as Iterable<PageRow>) {
        ({ id, segment } = row);
        if ((seenId !== undefined && seenId !== id) || row.seq === null) break;
        addTo(page, row, after);
        text += row.data.length;
        if (page.length >= most || text >= TEXT_PER_PAGE) break;
      }
    } catch (error) {
      // What stands before the damage is given first; the next page begins with it.
      if (page.length === 0) throw error;
    }
    if (seenId !== undefined && seenId !== id) throw deletedLog(log);
    seenId = id;
    most = Math.min(4 * most, LONGEST_PAGE);
    if (id === undefined || segment === null) return page;
    // Nothing but the deletion of its log takes a segment away.
    return findSegment(database, id, after + 1) ?? look(after);
  }

  function addTo(page: LogRecord[], row: AppendRow, after: number): void {
    const next = after + page.length + 1;
    if (row.seq > next) throw damagedRow(log, database.path, next, `record ${next} is missing`);
    for (const record of recordsIn(row, log, database.path)) if (record.seq >= next) page.push(record);
  }

  return {
    async page(after) {
      assertOpen();
      const found = database.read(() => look(after));
      if (!("sha256" in found)) return found;
      const rows = await openSegment(found, log, database.path);
      assertOpen();
      const page: LogRecord[] = [];
      try {
        for (const [index, row] of rows.entries()) if ((rows[index + 1]?.seq ?? Infinity) > after + 1) addTo(page, row, after);
      } catch (error) {
        if (page.length === 0) throw error;
      }
      return page;
    },
    listen(wake) {
      const stopWatching = foreignWatch.watch(wake);
      const stopListening = database.listen(log, wake);
      return () => {
        stopListening();
        stopWatching();
      };
    },
  };
}
