import type { LogId, Sealed, SealOptions } from "@keelson/protocol";
import { assertSealBefore, type PackedTexts, packTexts, SegmentSize } from "keelson/state/kit";
import type { PostgresDatabase } from "./postgres-database.ts";
import { storedName } from "./stored-name.ts";

/** No more text is looked at for one segment, but for a record that is larger alone. */
const BYTES_AT_ONCE = 1024 * 1024;
const RECORDS_AT_ONCE = 512;

/** Records that follow one another without a gap. */
interface Stretch {
  readonly id: string;
  readonly texts: readonly string[];
  readonly size: SegmentSize;
  readonly first: number;
  readonly last: number;
}

/**
 * Makes segments of what lies before a record, from the end of the last segment on. What is read and compressed stands still meanwhile: a record is
 * never changed. One transaction then takes the data out of the rows and adds the segment, if nobody has sealed any of them or deleted the log;
 * the rows keep the rest, so that a key that is taken stays taken whoever looks, and when.
 */
export async function sealPostgresLog(
  of: { readonly database: PostgresDatabase; assertOpen(): void },
  log: LogId,
  { before, signal }: SealOptions,
): Promise<Sealed> {
  const { database, assertOpen } = of;
  assertSealBefore(log, before);
  let [segments, records, bytesBefore, bytesAfter] = [0, 0, 0, 0];
  let after = 0;
  let id: string | undefined;
  for (;;) {
    signal?.throwIfAborted();
    assertOpen();
    const stretch = await nextStretch(database, log, after, before);
    if (stretch === undefined || (id ??= stretch.id) !== stretch.id) return { segments, records, bytesBefore, bytesAfter };
    after = stretch.last;
    if (!stretch.size.isEnough) continue;
    const packed = await packTexts(stretch.texts);
    assertOpen();
    if (!(await swap(database, stretch, packed))) continue;
    segments += 1;
    records += stretch.texts.length;
    for (const text of stretch.texts) bytesBefore += Buffer.byteLength(text);
    bytesAfter += packed.bytes.byteLength;
  }
}

/** What comes next behind `after`: as much as goes into a segment, or less where a gap or the end follows. */
async function nextStretch(database: PostgresDatabase, log: LogId, after: number, before: number): Promise<Stretch | undefined> {
  const { schema } = database;
  const next = `
    SELECT id::text AS id, seq, data FROM (
      SELECT l.id, r.seq, r.data, sum(octet_length(r.data)) OVER (ORDER BY r.seq) - octet_length(r.data) AS bytes_before
      FROM ${schema}.logs l CROSS JOIN LATERAL (
        SELECT seq, data FROM ${schema}.records
        WHERE log = l.id AND data IS NOT NULL AND seq < least($3::text::bigint, l.head)
          AND seq > greatest($2::text::bigint, (SELECT max(last) FROM ${schema}.segments WHERE log = l.id))
        ORDER BY seq LIMIT ${RECORDS_AT_ONCE}
      ) AS r WHERE l.name = $1::text
    ) AS counted WHERE bytes_before < ${BYTES_AT_ONCE} ORDER BY seq`;
  const rows = await database.query(next, [storedName(log), String(after), String(before)]);
  const texts: string[] = [];
  const size = new SegmentSize();
  const first = Number(rows[0]?.["seq"]);
  for (const row of rows) {
    const text = String(row["data"]);
    if (texts.length > 0 && (Number(row["seq"]) !== first + texts.length || !size.hasRoomFor(1, text.length))) break;
    texts.push(text);
    size.add(1, text.length);
  }
  return texts.length === 0 ? undefined : { id: String(rows[0]?.["id"]), texts, size, first, last: first + texts.length - 1 };
}

/** @returns whether all of these records still had their data */
async function swap(database: PostgresDatabase, { id, texts, first, last }: Stretch, { bytes, sha256 }: PackedTexts): Promise<boolean> {
  const { schema } = database;
  const range = [id, String(first), String(last)];
  const inRange = "log = $1::text::bigint AND seq BETWEEN $2::text::bigint AND $3::text::bigint AND data IS NOT NULL";
  return database.transaction(async (connection) => {
    // Holds up who deletes the log, and nobody who appends to it.
    const there = await connection.query(`SELECT 1 FROM ${schema}.logs WHERE id = $1::text::bigint FOR KEY SHARE`, [id]);
    // In one order by all, so that no two who seal wait for each other.
    const locked = await connection.query(`SELECT seq FROM ${schema}.records WHERE ${inRange} ORDER BY seq FOR NO KEY UPDATE`, range);
    if (there.length === 0 || locked.length !== texts.length) return false;
    await connection.query(`UPDATE ${schema}.records SET data = NULL WHERE ${inRange}`, range);
    const add = `
      INSERT INTO ${schema}.segments (log, first, last, sha256, bytes)
      VALUES ($1::text::bigint, $2::text::bigint, $3::text::bigint, $4::bytea, $5::bytea)`;
    await connection.query(add, [...range, sha256, bytes]);
    return true;
  });
}
