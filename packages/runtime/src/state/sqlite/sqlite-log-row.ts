import type { LogId, LogRecord, NewRecord } from "@keelson/protocol";
import type { LogContent } from "../kit/plan-append.ts";
import { type AppendRow, damagedRow, recordsIn } from "./sqlite-append-row.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";
import { SEQ_BITS, SEQ_MASK } from "./sqlite-schema.ts";
import { findSegment, openSegmentNow } from "./sqlite-segments.ts";

/** Of the log `l`. */
export const LAST_APPEND: string = `(SELECT max(place) FROM appends WHERE place > l.id << ${SEQ_BITS} AND place < (l.id + 1) << ${SEQ_BITS})`;
/** Of the append `a`. */
export const LAST_SEQ: string = `(a.place & ${SEQ_MASK}) + a.records - 1`;

const FIND_LOG = `
  SELECT l.id, l.epoch, l.owner, ${LAST_SEQ} AS head, a.at FROM logs l LEFT JOIN appends a ON a.place = ${LAST_APPEND}
  WHERE l.name = ?`;
const FIND_KEY = "SELECT seq FROM keys WHERE log = ? AND key = ?";
const ROW_AT = `
  SELECT place & ${SEQ_MASK} AS seq, at, names, data FROM appends
  WHERE place > ?1 << ${SEQ_BITS} AND place <= ?1 << ${SEQ_BITS} | ?2 AND place + records > (?1 << ${SEQ_BITS} | ?2)
  ORDER BY place DESC LIMIT 1`;

/** A log as it is now, within a transaction. `epoch` is null where nobody ever held a lease. */
export interface LogRow {
  readonly id: number;
  readonly epoch: number | null;
  readonly owner: string | null;
  readonly head: number;
  /** Unix ms of the last record; 0 for a log without records. */
  readonly at: number;
}

export function findLog(database: SqliteDatabase, log: LogId): LogRow | undefined {
  const row = database.prepare(FIND_LOG).get(log) as (Omit<LogRow, "head" | "at"> & Nullable<Pick<LogRow, "head" | "at">>) | undefined;
  return row && { ...row, head: row.head ?? 0, at: row.at ?? 0 };
}

type Nullable<T> = { readonly [Name in keyof T]: T[Name] | null };

/** What an append has to know of the log: where it ends, and which of these keys are taken. */
export function contentOf(database: SqliteDatabase, log: LogId, { id, head }: LogRow, records: readonly NewRecord[]): LogContent {
  const standing = new Map<string, LogRecord>();
  const findKey = database.prepare(FIND_KEY);
  const find = createFind(database, log, id);
  for (const { key } of records) {
    const seq = findKey.get(id, key)?.["seq"] as number | undefined;
    if (seq !== undefined) standing.set(key, find(seq));
  }
  return { head, standing };
}

/** Finds records by their seq, in the row of their append or in a segment. The segment that it opened last stays open. */
function createFind(database: SqliteDatabase, log: LogId, id: number): (seq: number) => LogRecord {
  let opened: readonly AppendRow[] = [];
  const inSegment = (seq: number): AppendRow | undefined => opened.findLast((row) => row.seq <= seq);
  return (seq) => {
    let row = database.prepare(ROW_AT).get(id, seq) as AppendRow | undefined;
    if (row === undefined) {
      const segment = findSegment(database, id, seq);
      if (segment !== undefined && opened[0]?.seq !== segment.seq) opened = openSegmentNow(segment, log, database.path);
      row = segment && inSegment(seq);
    }
    const record = row && recordsIn(row, log, database.path)[seq - row.seq];
    if (record === undefined) throw damagedRow(log, database.path, seq, `record ${seq} is missing`);
    return record;
  };
}
