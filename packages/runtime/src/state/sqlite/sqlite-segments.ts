import type { LogId } from "@keelson/protocol";
import { type PackedTexts, unpackTexts, unpackTextsNow } from "../kit/packed-texts.ts";
import { type AppendRow, damagedRow } from "./sqlite-append-row.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";
import { SEQ_BITS, SEQ_MASK } from "./sqlite-schema.ts";

/** Many appends that follow one another, in one row. It is never changed, and goes with its log alone. */
export interface Segment extends PackedTexts {
  /** Of its first record. */
  readonly seq: number;
  readonly records: number;
}

/** Of the log `l`, the one that holds the record `?2 + 1`. */
export const SEGMENT_OF_NEXT: string = `
  s.place = (SELECT max(place) FROM segments WHERE place <= (l.id << ${SEQ_BITS} | ?2 + 1) AND place > l.id << ${SEQ_BITS})
  AND s.place + s.records > (l.id << ${SEQ_BITS} | ?2 + 1)`;
const SEGMENT_WITH = `
  SELECT place & ${SEQ_MASK} AS seq, records, sha256, bytes FROM segments
  WHERE place > ?1 << ${SEQ_BITS} AND place <= ?1 << ${SEQ_BITS} | ?2 AND place + records > (?1 << ${SEQ_BITS} | ?2)
  ORDER BY place DESC LIMIT 1`;

/** The one that holds the record, of the log of that number. */
export function findSegment(database: SqliteDatabase, id: number, seq: number): Segment | undefined {
  return database.prepare(SEGMENT_WITH).get(id, seq) as Segment | undefined;
}

/** What a segment is made of: when each append came, then its names and data as they stand in its row. */
export function textsOf(rows: readonly AppendRow[]): readonly string[] {
  return [JSON.stringify(rows.map(({ seq, at }) => [seq, at])), ...rows.flatMap(({ names, data }) => [names, data])];
}

/** The appends in it. @throws LogError `corrupt` */
export async function openSegment(segment: Segment, log: LogId, path: string): Promise<readonly AppendRow[]> {
  return rowsIn(segment, await unpackTexts(segment), log, path);
}

/** As {@link openSegment}, within a transaction. */
export function openSegmentNow(segment: Segment, log: LogId, path: string): readonly AppendRow[] {
  return rowsIn(segment, unpackTextsNow(segment), log, path);
}

function rowsIn({ seq, records }: Segment, [about, ...texts]: readonly string[] = [], log: LogId, path: string): readonly AppendRow[] {
  if (about === undefined)
    throw damagedRow(
      log,
      path,
      seq,
      `the segment that holds records ${seq} to ${seq + records - 1} is not what was sealed, and none of them can be read`,
    );
  const appends = JSON.parse(about) as readonly (readonly [seq: number, at: number])[];
  return appends.map(([first, at], index) => ({ seq: first, at, names: texts[2 * index] ?? "", data: texts[2 * index + 1] ?? "" }));
}
