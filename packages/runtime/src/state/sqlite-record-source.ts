import { LogError, type JsonObject, type LogId, type LogRecord } from "@keelson/protocol";
import { deletedLog } from "./log-conflict.ts";
import type { RecordSource } from "./read-records.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";
import type { ForeignWatch } from "./sqlite-foreign-watch.ts";
import { SEQ_BITS, SEQ_MASK } from "./sqlite-schema.ts";

/** A page ends at so many records or so much text, whichever comes first, so that a log of large records is never held whole. */
const RECORDS_PER_PAGE = 256;
const TEXT_PER_PAGE = 1024 * 1024;

// One statement, hence one snapshot: a log that is deleted meanwhile is seen whole or not at all.
const PAGE = `
  SELECT l.id, r.place & ${SEQ_MASK} AS seq, r.at, r.key, r.type, r.data
  FROM logs l LEFT JOIN records r ON r.place > (l.id << ${SEQ_BITS} | ?2) AND r.place < (l.id + 1) << ${SEQ_BITS}
  WHERE l.name = ?1 ORDER BY r.place LIMIT ${RECORDS_PER_PAGE}`;

interface PageRow {
  readonly id: number;
  readonly seq: number | null;
  readonly at: number;
  readonly key: string;
  readonly type: string;
  readonly data: string;
}

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
    page(after) {
      assertOpen();
      return database.read(() => {
        const page: LogRecord[] = [];
        let text = 0;
        let id: number | undefined;
        try {
          for (const row of database.prepare(PAGE).iterate(log, after) as unknown as Iterable<PageRow>) {
            id = row.id;
            if (seenId !== undefined && seenId !== id) break;
            if (row.seq === null) break;
            page.push(decode(row, after + page.length + 1));
            text += row.data.length;
            if (text >= TEXT_PER_PAGE) break;
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

  function decode({ seq, at, key, type, data }: PageRow, expectedSeq: number): LogRecord {
    if (seq !== expectedSeq) throw corrupt(expectedSeq, `record ${expectedSeq} is missing`);
    try {
      return { seq, at, key, type, data: JSON.parse(data) as JsonObject };
    } catch (cause) {
      throw corrupt(seq, `the data of record ${seq} is no JSON`, cause);
    }
  }

  function corrupt(seq: number, reason: string, cause?: unknown): LogError {
    const message = `Log "${log}" in ${database.path} is damaged: ${reason}. What stands before it is intact. Restore the file from a backup, or fork the log before that record.`;
    return new LogError({ kind: "corrupt", log, seq, message }, cause === undefined ? undefined : { cause });
  }
}
