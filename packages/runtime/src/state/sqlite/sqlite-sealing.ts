import type { LogId, Sealed, SealOptions } from "@keelson/protocol";
import { assertSealBefore } from "../kit/log-conflict.ts";
import { type PackedTexts, packTexts } from "../kit/packed-texts.ts";
import { SegmentSize } from "../kit/segment-size.ts";
import type { AppendRow } from "./sqlite-append-row.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";
import { findLog } from "./sqlite-log-row.ts";
import { SEQ_BITS, SEQ_MASK } from "./sqlite-schema.ts";
import { textsOf } from "./sqlite-segments.ts";

const NEXT_APPENDS = `
  SELECT place & ${SEQ_MASK} AS seq, at, records, names, data FROM appends
  WHERE place > ?1 << ${SEQ_BITS} | ?2 AND place + records <= ?1 << ${SEQ_BITS} | ?3 AND place < ?1 << ${SEQ_BITS} | ?3 ORDER BY place`;
const IN_RANGE = `place >= ?1 << ${SEQ_BITS} | ?2 AND place <= ?1 << ${SEQ_BITS} | ?3`;
const COUNT_APPENDS = `SELECT count(*) AS appends, sum(records) AS records FROM appends WHERE ${IN_RANGE}`;
const DELETE_APPENDS = `DELETE FROM appends WHERE ${IN_RANGE}`;
const ADD_SEGMENT = `INSERT INTO segments (place, records, sha256, bytes) VALUES (?1 << ${SEQ_BITS} | ?2, ?3, ?4, ?5)`;

interface StoredAppend extends AppendRow {
  readonly records: number;
}

/** Appends that follow one another without a gap, to the log of that number. */
interface Stretch {
  readonly id: number;
  readonly appends: readonly StoredAppend[];
  readonly size: SegmentSize;
  /** Of the last record. */
  readonly last: number;
}

/**
 * Makes segments of what lies before a record, from the beginning on. What is read and compressed stands still meanwhile: an append is never
 * changed but for the summary of the newest, and the number of a log is given to no other. So one short transaction swaps the rows for a
 * segment, if they are still there.
 */
export async function sealSqliteLog(
  of: { readonly database: SqliteDatabase; readonly busyTimeoutMs: number; assertOpen(): void },
  log: LogId,
  { before, signal }: SealOptions,
): Promise<Sealed> {
  const { database, busyTimeoutMs, assertOpen } = of;
  assertSealBefore(log, before);
  let [segments, records, bytesBefore, bytesAfter] = [0, 0, 0, 0];
  let after = 0;
  let id: number | undefined;
  for (;;) {
    signal?.throwIfAborted();
    assertOpen();
    const stretch = database.read(() => nextStretch(database, log, after, before));
    if (stretch === undefined || (id ??= stretch.id) !== stretch.id) {
      // Thousands of logs may be looked at of which nothing is left to seal, and others have work to do in between.
      await new Promise((resolve) => setImmediate(resolve));
      return { segments, records, bytesBefore, bytesAfter };
    }
    after = stretch.last;
    if (!stretch.size.isEnough) continue;
    const packed = await packTexts(textsOf(stretch.appends));
    assertOpen();
    if (!(await database.write("process", () => swap(database, stretch, packed), busyTimeoutMs))) continue;
    segments += 1;
    records += stretch.size.records;
    for (const { names, data } of stretch.appends) bytesBefore += Buffer.byteLength(names) + Buffer.byteLength(data);
    bytesAfter += packed.bytes.length;
  }
}

/** What comes next behind `after`: as much as goes into a segment, or less where a gap or the end follows. */
function nextStretch(database: SqliteDatabase, log: LogId, after: number, before: number): Stretch | undefined {
  const found = findLog(database, log);
  if (found === undefined) return undefined;
  const appends: StoredAppend[] = [];
  const size = new SegmentSize();
  // The newest append tells where the log ends and what is listed of it.
  const end = Math.min(before, newestOf(database, found.id));
  let last = after;
  for (const append of database.prepare(NEXT_APPENDS).iterate(found.id, after, end) as Iterable<StoredAppend>) {
    const { seq, records, names, data } = append;
    const textLength = names.length + data.length;
    if (appends.length > 0 && (seq !== last + 1 || !size.hasRoomFor(records, textLength))) break;
    appends.push(append);
    size.add(records, textLength);
    last = seq + records - 1;
  }
  return appends.length === 0 ? undefined : { id: found.id, appends, size, last };
}

function newestOf(database: SqliteDatabase, id: number): number {
  const statement = `SELECT max(place) & ${SEQ_MASK} AS seq FROM appends WHERE place > ?1 << ${SEQ_BITS} AND place < (?1 + 1) << ${SEQ_BITS}`;
  return (database.prepare(statement).get(id)?.["seq"] as number | null) ?? 0;
}

/** Within a transaction. @returns whether all of these appends were still there */
function swap(database: SqliteDatabase, { id, appends, size, last }: Stretch, { bytes, sha256 }: PackedTexts): boolean {
  const first = appends[0]?.seq ?? 0;
  const there = database.prepare(COUNT_APPENDS).get(id, first, last);
  if (there?.["appends"] !== appends.length || there["records"] !== size.records) return false;
  database.prepare(DELETE_APPENDS).run(id, first, last);
  database.prepare(ADD_SEGMENT).run(id, first, size.records, sha256, bytes);
  return true;
}
