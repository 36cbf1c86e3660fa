import type { LogId, LogRecord, NewRecord } from "@keelson/protocol";
import type { LeaseState } from "keelson/state/kit";
import type { Row, SentValue } from "./connection/connection.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import { damagedLog, recordIn } from "./postgres-record-row.ts";
import { createPostgresSegments } from "./postgres-segments.ts";
import { nameIn, storedName, textArray } from "./stored-name.ts";

/** A log as it is at one moment, with those of some keys that it holds. */
export interface FoundLog {
  readonly id: string;
  readonly head: number;
  readonly lease: LeaseState | undefined;
  readonly standing: ReadonlyMap<string, LogRecord>;
}

/** What one statement appends. */
export interface Addition {
  readonly log: LogId;
  /** Where the log must end; `undefined` leaves that open. */
  readonly head: number | undefined;
  /** Whose lease it must be; `undefined` leaves that open. */
  readonly epoch: number | undefined;
  readonly records: readonly NewRecord[];
  /** The data of each record, as JSON text. */
  readonly texts: readonly string[];
  /** JSON text. */
  readonly summary: string | undefined;
  /** Has the commit on disk when it resolves, also where the server is told not to wait for that. */
  readonly isOnDisk: boolean;
  /** Unix ms: since when the records stand. Default now. */
  readonly at: number | undefined;
  /** Whether there is nothing that the records could be found by. */
  readonly isWordless: boolean;
}

export interface Added {
  /** The number of its log. */
  readonly id: string;
  readonly head: number;
  readonly at: number;
}

/** The statements of the event log, each a transaction by itself: no connection that breaks leaves half of anything behind. */
export interface LogStatements {
  /** @returns where and when they came, or nothing where the log was not as was asked. Fails where a key is taken. */
  append(addition: Addition): Promise<Added | undefined>;
  /** Keeps what is said of a log that ends there. @returns whether it did */
  keepSummary(addition: Pick<Addition, "log" | "head" | "epoch" | "summary">): Promise<boolean>;
  find(log: LogId, keys: readonly string[]): Promise<FoundLog | undefined>;
  /** Waits until all that was committed is on disk. */
  synchronize(): Promise<void>;
}

/** Unix ms of the clock that judges: that of `now`, or of the database. */
export interface DatabaseClock {
  /** Reads it, with `value` as the first parameter of the statement. */
  readonly sql: string;
  value(): string | null;
}

export function clockOf(now: (() => number) | undefined): DatabaseClock {
  return {
    sql: "coalesce($1::text::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)",
    value: () => (now === undefined ? null : String(Math.floor(now()))),
  };
}

export function logStatements(database: PostgresDatabase, now: (() => number) | undefined): LogStatements {
  const { schema } = database;
  const clock = clockOf(now);

  const holds =
    "($4::text::bigint IS NULL OR l.head = $4::text::bigint) AND ($5::text::bigint IS NULL OR (l.epoch = $5::text::bigint AND l.owner IS NOT NULL))";
  const change =
    "head = l.head + $3::text::bigint, at = greatest(l.at, (SELECT now FROM clock)), summary = $6::text, wordless = CASE $11::text WHEN 'yes' THEN l.head + $3::text::bigint END";
  const addRecords = `
    , added AS (
      INSERT INTO ${schema}.records (log, seq, at, key, type, data)
      SELECT l.id, l.head - $3::text::bigint + new.place, l.at, new.key, new.type, new.data
      FROM l, unnest($7::text::text[], $8::text::text[], $9::text::text[]) WITH ORDINALITY AS new (key, type, data, place))
    SELECT id::text AS id, head, at, CASE WHEN $10::text = 'on' THEN set_config('synchronous_commit', 'on', true) END FROM l`;
  const toThere = `
    WITH clock AS (SELECT ${clock.sql} AS now), l AS (
      UPDATE ${schema}.logs AS l SET ${change} WHERE l.name = $2::text AND ${holds} RETURNING l.id, l.head, l.at)${addRecords}`;
  const toAny = `
    WITH clock AS (SELECT ${clock.sql} AS now), l AS (
      INSERT INTO ${schema}.logs AS l (name, head, at, summary, wordless)
      SELECT $2::text, $3::text::bigint, now, $6::text, CASE $11::text WHEN 'yes' THEN $3::text::bigint END FROM clock
      ON CONFLICT (name) DO UPDATE SET ${change} WHERE ${holds} RETURNING l.id, l.head, l.at)${addRecords}`;
  const keepSummary = `
    UPDATE ${schema}.logs SET summary = $2::text WHERE name = $1::text AND head > 0 AND head = $3::text::bigint
      AND ($4::text::bigint IS NULL OR (epoch = $4::text::bigint AND owner IS NOT NULL))
    RETURNING id`;
  const findKeys = `
    SELECT l.id::text AS id, l.head, l.epoch, l.owner, l.ttl_ms, l.expires_at, r.seq, r.at, r.key, r.type, r.data
    FROM ${schema}.logs l LEFT JOIN ${schema}.records r ON r.log = l.id AND r.key = ANY($2::text::text[])
    WHERE l.name = $1::text`;

  return {
    async append({ log, head, epoch, records, texts, summary, isOnDisk, at, isWordless }) {
      const values: SentValue[] = [
        at === undefined ? clock.value() : String(at),
        storedName(log),
        String(records.length),
        head === undefined ? null : String(head),
        epoch === undefined ? null : String(epoch),
        summary ?? null,
        textArray(records.map(({ key }) => storedName(key))),
        textArray(records.map(({ type }) => storedName(type))),
        textArray(texts),
        isOnDisk ? "on" : "as it is",
        isWordless ? "yes" : "no",
      ];
      // A log that must hold something, or a lease, is there already.
      const statement = epoch === undefined && (head === undefined || head === 0) ? toAny : toThere;
      const [row] = await database.query(statement, values);
      return row && { id: String(row["id"]), head: Number(row["head"]), at: Number(row["at"]) };
    },
    async keepSummary({ log, head, epoch, summary }) {
      const values = [storedName(log), summary ?? null, String(head), epoch === undefined ? null : String(epoch)];
      return (await database.query(keepSummary, values)).length > 0;
    },
    async find(log, keys) {
      // A log that was deleted in between took its segments with it: that shows when it is looked at again.
      const found = await look(log, keys);
      if (!isMissing(found)) return found;
      const again = await look(log, keys);
      if (!isMissing(again)) return again;
      throw damagedLog(log, database.where, again.missing, `record ${again.missing} was sealed, and its segment is missing`);
    },
    async synchronize() {
      // A transaction with a number of its own writes a record of its commit, and waits for all before it.
      await database.query("SELECT set_config('synchronous_commit', 'on', true), pg_current_xact_id()");
    },
  };

  async function look(log: LogId, keys: readonly string[]): Promise<FoundLog | MissingSegment | undefined> {
    const rows = await database.query(findKeys, [storedName(log), textArray(keys.map(storedName))]);
    const [row] = rows;
    if (row === undefined) return undefined;
    const segments = createPostgresSegments(database);
    const records: LogRecord[] = [];
    for (const one of rows) {
      if (one["seq"] === null) continue;
      const whole = one["data"] === null ? await segments.restore(log, String(row["id"]), one) : one;
      if (whole === undefined) return { missing: Number(one["seq"]) };
      records.push(recordIn(whole, log, database.where));
    }
    return {
      id: String(row["id"]),
      head: Number(row["head"]),
      lease: leaseIn(row),
      standing: new Map(records.map((record) => [record.key, record])),
    };
  }
}

/** The record, whose data no segment holds. */
interface MissingSegment {
  readonly missing: number;
}

function isMissing(found: FoundLog | MissingSegment | undefined): found is MissingSegment {
  return found !== undefined && "missing" in found;
}

export function leaseIn({ epoch, owner, ttl_ms: ttlMs, expires_at: expiresAt }: Row): LeaseState | undefined {
  if (epoch === null) return undefined;
  return { epoch: Number(epoch), owner: owner === null ? null : nameIn(String(owner)), ttlMs: Number(ttlMs), expiresAt: Number(expiresAt) };
}
