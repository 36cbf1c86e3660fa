import type { AppendOptions, BlobStore, EventLog, Lease, LogId, LogInfo, LogRecord, NewRecord } from "@keelson/protocol";
import { assertName, type EncodedRecord, encodeRecords, MAX_RECORD_BYTES } from "./encoded-record.ts";
import { assertEpoch, type LeaseState } from "./lease-state.ts";
import { assertExpectedSeq, closedLog, staleSeq, takenKey } from "./log-conflict.ts";
import { type ReadOptions, readRecords } from "./read-records.ts";
import { isSameJson } from "./same-json.ts";
import { BUSY_TIMEOUT_MS, type KnownLog, openSqliteDatabase } from "./sqlite-database.ts";
import { createForeignWatch, type Poll } from "./sqlite-foreign-watch.ts";
import { createSqliteBudgetLedger, type SqliteBudgetLedger } from "./sqlite-budget-ledger.ts";
import { createSqliteBlobStore } from "./sqlite-blob-store.ts";
import { createSqliteLeases } from "./sqlite-leases.ts";
import { createSqliteRecordSource } from "./sqlite-record-source.ts";
import { SEQ_BITS, SEQ_MASK } from "./sqlite-schema.ts";

export interface SqliteEventLogOptions {
  /** The database file; it and its folder are created when missing. A blob store may use the same one. */
  readonly path: string;
  /** Unix ms. Default `Date.now`. */
  readonly now?: () => number;
  /** How often a reader that waits looks for what other processes appended. Default 50. */
  readonly pollMs?: number;
  /** Repeats `tick` every `pollMs` until the returned function is called. Default a timer that keeps no process alive. */
  readonly poll?: Poll;
  /** How long a write keeps trying while other processes hold the lock. Default 10 s. */
  readonly busyTimeoutMs?: number;
  /** Default 64 MiB of JSON text. */
  readonly maxRecordBytes?: number;
}

type LogRow = Pick<KnownLog, "id" | "epoch" | "owner"> & { readonly head: number | null; readonly at: number | null };

const FIND_LOG = `
  SELECT l.id, l.epoch, l.owner, r.place & ${SEQ_MASK} AS head, r.at
  FROM logs l LEFT JOIN records r ON r.place = (SELECT max(place) FROM records WHERE place > l.id << ${SEQ_BITS} AND place < (l.id + 1) << ${SEQ_BITS})
  WHERE l.name = ?`;
const ADD_LOG = "INSERT INTO logs (name) VALUES (?) RETURNING id";
const ADD_RECORD = `INSERT INTO records (place, log, at, key, type, data) VALUES (?1 << ${SEQ_BITS} | ?2, ?1, ?3, ?4, ?5, ?6)`;
const FIND_KEY = `SELECT place & ${SEQ_MASK} AS seq, type, data FROM records WHERE log = ? AND key = ?`;
const KEY_AT = `SELECT key FROM records WHERE place = ? << ${SEQ_BITS} | ?`;
const COUNT_SYNC = "UPDATE counters SET syncs = syncs + 1";
const LIST = `
  SELECT l.name, r.place & ${SEQ_MASK} AS head, r.at
  FROM logs l JOIN records r ON r.place = (SELECT max(place) FROM records WHERE place > l.id << ${SEQ_BITS} AND place < (l.id + 1) << ${SEQ_BITS})
  WHERE l.name >= ? AND l.name > ? ORDER BY l.name`;

/**
 * Logs in a SQLite database on a local disk, for any number of processes at once.
 * @throws LogError when the file is damaged, another program's, of a newer version, or can't be created
 */
export function createSqliteEventLog(pathOrOptions: string | SqliteEventLogOptions): EventLog {
  const options: SqliteEventLogOptions = typeof pathOrOptions === "string" ? { path: pathOrOptions } : pathOrOptions;
  const { now = Date.now, maxRecordBytes = MAX_RECORD_BYTES, busyTimeoutMs = BUSY_TIMEOUT_MS } = options;
  const database = openSqliteDatabase(options.path);
  const findLog = database.prepare(FIND_LOG);
  const addRecord = database.prepare(ADD_RECORD);
  let closed = false;
  const assertOpen = (): void => {
    if (closed) throw closedLog();
  };
  const leases = createSqliteLeases({ database, now, busyTimeoutMs, assertOpen });
  const foreignWatch = createForeignWatch(database, options);

  /** What an append comes to, decided and written within one transaction; `at` when all of it was written now. */
  function append(
    log: LogId,
    expectedSeq: number | "any",
    encoded: readonly EncodedRecord[],
    epoch: number | undefined,
    isPower: boolean,
  ): { readonly seq: number; readonly at: number | undefined } {
    let known = database.known.get(log);
    if (known === undefined) {
      const row = findLog.get(log) as unknown as LogRow | undefined;
      if (row !== undefined) database.known.set(log, (known = { ...row, head: row.head ?? 0, at: row.at ?? 0 }));
    }
    if (epoch !== undefined) assertEpoch(log, epoch, known === undefined ? undefined : leaseOf(known));
    const head = known?.head ?? 0;
    const last = encoded[encoded.length - 1];
    if (last === undefined) {
      if (expectedSeq !== "any" && expectedSeq !== head) throw staleSeq(log, expectedSeq, head);
      return { seq: head, at: undefined };
    }
    let missing = encoded;
    let lastSeq = head + encoded.length;
    if (known !== undefined && head > 0) {
      if (expectedSeq === "any") {
        const standing = seqsOf(log, known.id, encoded);
        if (standing.size > 0) {
          missing = encoded.filter(({ key }) => !standing.has(key));
          lastSeq = standing.get(last.key) ?? head + missing.length;
        }
      } else if (expectedSeq !== head) {
        if (!standsAt(known.id, expectedSeq, encoded)) throw staleSeq(log, expectedSeq, head);
        missing = [];
        lastSeq = expectedSeq + encoded.length;
      }
    } else if (expectedSeq !== "any" && expectedSeq !== 0) throw staleSeq(log, expectedSeq, head);

    if (missing.length === 0) {
      // Whoever wrote these records may have died before they were on disk. A commit that changes a page syncs them, too.
      if (isPower) database.prepare(COUNT_SYNC).run();
      return { seq: lastSeq, at: undefined };
    }
    if (known === undefined) {
      const id = database.prepare(ADD_LOG).get(log)?.["id"] as number;
      database.known.set(log, (known = { id, epoch: null, owner: null, head: 0, at: 0 }));
    }
    known.at = Math.max(now(), known.at);
    for (const { key, type, text } of missing) {
      known.head += 1;
      try {
        addRecord.run(known.id, known.head, known.at, key, type, text);
      } catch (error) {
        const taken =
          (error as { readonly errcode?: unknown }).errcode === CONSTRAINT_UNIQUE
            ? database.prepare(FIND_KEY).get(known.id, key)
            : undefined;
        throw taken === undefined ? error : takenKey(log, expectedSeq, taken["seq"] as number, key);
      }
    }
    return { seq: lastSeq, at: missing.length === encoded.length ? known.at : undefined };
  }

  /** Where keys that are in the log already stand. @throws LogError `conflict` when one says something else. */
  function seqsOf(log: LogId, id: number, encoded: readonly EncodedRecord[]): Map<string, number> {
    const findKey = database.prepare(FIND_KEY);
    const seqs = new Map<string, number>();
    for (const { key, type, text } of encoded) {
      const row = findKey.get(id, key);
      if (row === undefined) continue;
      if (row["type"] !== type || !isSameJson(row["data"] as string, text)) throw takenKey(log, "any", row["seq"] as number, key);
      seqs.set(key, row["seq"] as number);
    }
    return seqs;
  }

  function standsAt(id: number, expectedSeq: number, encoded: readonly EncodedRecord[]): boolean {
    const keyAt = database.prepare(KEY_AT);
    return encoded.every(({ key }, index) => keyAt.get(id, expectedSeq + index + 1)?.["key"] === key);
  }

  let blobs: BlobStore | undefined;
  let ledger: SqliteBudgetLedger | undefined;

  return {
    // Opened for who asks for it: many logs have a store of their own beside them.
    get blobs() {
      return (blobs ??= createSqliteBlobStore({ path: options.path, busyTimeoutMs }));
    },
    get ledger() {
      const { path, pollMs, poll } = options;
      return (ledger ??= createSqliteBudgetLedger({
        path,
        now,
        busyTimeoutMs,
        ...(pollMs !== undefined && { pollMs }),
        ...(poll && { poll }),
      }));
    },
    async append(
      log: LogId,
      expectedSeq: number | "any",
      records: readonly NewRecord[],
      { epoch, durability = "process", onAppended }: AppendOptions = {},
    ) {
      assertOpen();
      assertName(log, "The id of a log");
      assertExpectedSeq(log, expectedSeq);
      const encoded = encodeRecords(log, records, maxRecordBytes);
      const { seq, at } = await database.write(
        durability,
        () => {
          assertOpen();
          return append(log, expectedSeq, encoded, epoch, durability === "power");
        },
        busyTimeoutMs,
      );
      database.wake(log);
      if (at !== undefined) onAppended?.(at);
      return seq;
    },
    read(log: LogId, readOptions: ReadOptions = {}): AsyncIterable<LogRecord> {
      return readRecords(createSqliteRecordSource({ database, log, foreignWatch, assertOpen }), readOptions);
    },
    async head(log: LogId) {
      assertOpen();
      return database.read(() => (findLog.get(log) as unknown as LogRow | undefined)?.head ?? 0);
    },
    async list({ prefix = "", after = "", limit = Infinity } = {}) {
      assertOpen();
      return database.read(() => {
        const found: LogInfo[] = [];
        if (limit < 1) return found;
        // In the order of names, those with the prefix stand together.
        for (const { name, head, at } of database.prepare(LIST).iterate(prefix, after)) {
          if (!(name as string).startsWith(prefix)) break;
          found.push({ log: name as LogId, head: head as number, updatedAt: at as number });
          if (found.length >= limit) break;
        }
        return found;
      });
    },
    async delete(log: LogId) {
      assertOpen();
      await database.write(
        "process",
        () => {
          database.known.delete(log);
          const id = database.prepare("DELETE FROM logs WHERE name = ? RETURNING id").get(log)?.["id"];
          if (id !== undefined)
            database.prepare(`DELETE FROM records WHERE place > ?1 << ${SEQ_BITS} AND place < (?1 + 1) << ${SEQ_BITS}`).run(id as number);
        },
        busyTimeoutMs,
      );
      database.wake(log);
    },
    acquire(log: LogId, request: { readonly owner: string; readonly ttlMs: number }): Promise<Lease> {
      return leases.acquire(log, request);
    },
    async [Symbol.asyncDispose]() {
      if (closed) return;
      try {
        await leases.releaseAll();
      } finally {
        closed = true;
        foreignWatch.close();
        await blobs?.[Symbol.asyncDispose]();
        await ledger?.[Symbol.asyncDispose]();
        database.close();
      }
    },
  };
}

/** https://www.sqlite.org/rescode.html#constraint_unique */
const CONSTRAINT_UNIQUE = 2067;

function leaseOf({ epoch, owner }: KnownLog): LeaseState | undefined {
  return epoch === null ? undefined : { epoch, owner, ttlMs: 0, expiresAt: 0 };
}
