import type { LogId, LogRecord } from "@keelson/protocol";
import { deletedLog } from "../kit/log-conflict.ts";
import type { RecordSource } from "../kit/read-records.ts";
import { type AppendRow, damagedRow, recordsIn } from "./sqlite-append-row.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";
import type { ForeignWatch } from "./sqlite-foreign-watch.ts";
import { SEQ_BITS, SEQ_MASK } from "./sqlite-schema.ts";

/** A page ends behind so many records or so much text, whichever comes first, so that a log of large records is never held whole. */
const RECORDS_PER_PAGE = 256;
const TEXT_PER_PAGE = 1024 * 1024;

// One statement, hence one snapshot: a log that is deleted meanwhile is seen whole or not at all. The first append is the one that
// holds the record after `?2`.
const PAGE = `
  SELECT l.id, a.place & ${SEQ_MASK} AS seq, a.at, a.names, a.data
  FROM logs l LEFT JOIN appends a ON a.place < (l.id + 1) << ${SEQ_BITS} AND a.place + a.records > (l.id << ${SEQ_BITS} | ?2 + 1)
    AND a.place >= coalesce((SELECT max(place) FROM appends WHERE place <= (l.id << ${SEQ_BITS} | ?2 + 1)), l.id << ${SEQ_BITS})
    AND a.place > l.id << ${SEQ_BITS}
  WHERE l.name = ?1 ORDER BY a.place LIMIT ${RECORDS_PER_PAGE}`;

/** `seq` is null where there is nothing to read. */
type PageRow = { readonly id: number } & (AppendRow | { readonly seq: null });

export function createSqliteRecordSource(of: {
  readonly database: SqliteDatabase;
  readonly log: LogId;
  readonly foreignWatch: ForeignWatch;
  assertOpen(): void;
}): RecordSource {
  const { database, log, foreignWatch, assertOpen } = of;
  /** The number of the log that was read first; another one means that it was deleted and made again. */
  let seenId: number | undefined;

  return {
    async page(after) {
      assertOpen();
      return database.read(() => {
        const page: LogRecord[] = [];
        let text = 0;
        let id: number | undefined;
        try {
          for (const row of database.prepare(PAGE).iterate(log, after) as Iterable<PageRow>) {
            id = row.id;
            if (seenId !== undefined && seenId !== id) break;
            if (row.seq === null) break;
            const next = after + page.length + 1;
            if (row.seq > next) throw damagedRow(log, database.path, next, `record ${next} is missing`);
            for (const record of recordsIn(row, log, database.path)) if (record.seq >= next) page.push(record);
            text += row.data.length;
            if (page.length >= RECORDS_PER_PAGE || text >= TEXT_PER_PAGE) break;
          }
        } catch (error) {
          // What stands before the damage is given first; the next page begins with it.
          if (page.length === 0) throw error;
        }
        if (seenId !== undefined && seenId !== id) throw deletedLog(log);
        seenId = id;
        return page;
      });
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
