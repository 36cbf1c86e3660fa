import type { LogId, LogRecord } from "@keelson/protocol";
import { deletedLog, type RecordSource } from "keelson/state/kit";
import type { ChangeHub } from "./change-hub.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import { damagedLog, recordIn } from "./postgres-record-row.ts";
import { createPostgresSegments } from "./postgres-segments.ts";
import { storedName } from "./stored-name.ts";

/** A page ends behind so many records or so many bytes, whichever comes first, so that a log of large records is never held whole. */
const RECORDS_PER_PAGE = 256;
/** Many look for one record, such as what a search has found. */
const RECORDS_ON_FIRST_PAGE = 8;
const BYTES_PER_PAGE = 1024 * 1024;

export function createPostgresRecordSource(of: {
  readonly database: PostgresDatabase;
  readonly hub: ChangeHub;
  readonly log: LogId;
  assertOpen(): void;
}): RecordSource {
  const { database, hub, log, assertOpen } = of;
  /** The number of the log that was read first; another one means that it was deleted and made again. */
  let seenId: string | undefined;
  const segments = createPostgresSegments(database);
  let pages = 0;
  // One statement, hence one moment: a log that is deleted meanwhile is seen whole or not at all.
  const page = `
    SELECT l.id::text AS id, r.seq, r.at, r.key, r.type, r.data
    FROM ${database.schema}.logs l LEFT JOIN LATERAL (
      SELECT * FROM (
        SELECT seq, at, key, type, data, sum(coalesce(octet_length(data), 0)) OVER (ORDER BY seq) - coalesce(octet_length(data), 0) AS before
        FROM (SELECT * FROM ${database.schema}.records WHERE log = l.id AND seq > $2::text::bigint ORDER BY seq LIMIT $3::text::bigint) AS next
      ) AS counted WHERE before < ${BYTES_PER_PAGE}
    ) AS r ON true
    WHERE l.name = $1::text ORDER BY r.seq`;

  /** @returns nothing where no segment holds the first record, which was sealed */
  async function pageBehind(after: number): Promise<readonly LogRecord[] | undefined> {
    assertOpen();
    const most = pages++ === 0 ? RECORDS_ON_FIRST_PAGE : RECORDS_PER_PAGE;
    const rows = await database.query(page, [storedName(log), String(after), String(most)]);
    assertOpen();
    const id = rows[0]?.["id"] as string | undefined;
    if (seenId !== undefined && seenId !== id) throw deletedLog(log);
    seenId = id;
    const records: LogRecord[] = [];
    let sealedText = 0;
    for (const row of rows) {
      if (row["seq"] === null) break;
      const next = after + records.length + 1;
      try {
        if (Number(row["seq"]) !== next) throw damagedLog(log, database.where, next, `record ${next} is missing`);
        const whole = row["data"] === null ? await segments.restore(log, String(id), row) : row;
        if (whole === undefined) return records.length === 0 ? undefined : records;
        records.push(recordIn(whole, log, database.where));
        if (whole !== row) sealedText += String(whole["data"]).length;
        if (sealedText >= BYTES_PER_PAGE) break;
      } catch (error) {
        // What stands before the damage is given first; the next page begins with it.
        if (records.length === 0) throw error;
        break;
      }
    }
    assertOpen();
    return records;
  }

  return {
    async page(after) {
      // A log that was deleted in between took its segments with it: that shows when it is looked at again.
      const records = (await pageBehind(after)) ?? (await pageBehind(after));
      if (records !== undefined) return records;
      throw damagedLog(log, database.where, after + 1, `record ${after + 1} was sealed, and its segment is missing`);
    },
    listen: (wake) => hub.wait(log, wake),
  };
}
