import type { LogId, LogRecord, NewRecord } from "@keelson/protocol";
import type { LogContent } from "../kit/plan-append.ts";
import { type AppendRow, damagedRow, recordsIn } from "./sqlite-append-row.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";
import { SEQ_BITS, SEQ_MASK } from "./sqlite-schema.ts";

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
  WHERE place > ?1 << ${SEQ_BITS} AND place <= ?1 << ${SEQ_BITS} | ?2 ORDER BY place DESC LIMIT 1`;

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
  for (const { key } of records) {
    const seq = findKey.get(id, key)?.["seq"] as number | undefined;
    if (seq !== undefined) standing.set(key, recordAt(database, log, id, seq));
  }
  return { head, standing };
}

function recordAt(database: SqliteDatabase, log: LogId, id: number, seq: number): LogRecord {
  const row = database.prepare(ROW_AT).get(id, seq) as AppendRow | undefined;
  const record = row && recordsIn(row, log, database.path)[seq - row.seq];
  if (record === undefined) throw damagedRow(log, database.path, seq, `record ${seq} is missing`);
  return record;
}
