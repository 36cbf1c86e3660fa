import type {
  Appended,
  AppendOptions,
  BlobStore,
  Durability,
  EventLog,
  Lease,
  LogId,
  LogInfo,
  LogRecord,
  NewRecord,
} from "@keelson/protocol";
import { assertName, encodeSummary, encodeTogether, MAX_RECORD_BYTES } from "../kit/encoded-record.ts";
import { assertEpoch, type LeaseState } from "../kit/lease-state.ts";
import { assertExpectedSeq, closedLog } from "../kit/log-conflict.ts";
import { planAppend } from "../kit/plan-append.ts";
import { type ReadOptions, readRecords } from "../kit/read-records.ts";
import { timeAt } from "../kit/time-at.ts";
import { rowsOf, summaryIn } from "./sqlite-append-row.ts";
import { openSqliteDatabase } from "./sqlite-database.ts";
import { BUSY_TIMEOUT_MS } from "./sqlite-file.ts";
import type { Poll } from "../kit/poll.ts";
import { createForeignWatch } from "./sqlite-foreign-watch.ts";
import { createSqliteBudgetLedger, type SqliteBudgetLedger } from "./sqlite-budget-ledger.ts";
import { createSqliteBlobStore } from "./sqlite-blob-store.ts";
import { FIND_LOG, hashOf, type KnownLog, LIST_LOGS } from "./sqlite-known-logs.ts";
import { createSqliteLeases } from "./sqlite-leases.ts";
import { createSqliteRecordSource } from "./sqlite-record-source.ts";
import { SEQ_BITS } from "./sqlite-schema.ts";
import { checkOptionNames } from "../../json/option-names.ts";

export interface SqliteEventLogOptions {
  /** The database file; it and its folder are created when missing. A blob store may use the same one. */
  readonly path: string;
  /** Unix ms. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** How often a reader that waits looks for what other processes appended. Default 50. */
  readonly pollMs?: number | undefined;
  /** Repeats `tick` every `pollMs` until the returned function is called. Default a timer that keeps no process alive. */
  readonly poll?: Poll | undefined;
  /** How long a write keeps trying while other processes hold the lock. Default 10 s. */
  readonly busyTimeoutMs?: number | undefined;
  /** Default 64 MiB of JSON text. */
  readonly maxRecordBytes?: number | undefined;
}

const ADD_APPEND = `INSERT INTO appends (place, at, records, names, data, summary) VALUES (?1 << ${SEQ_BITS} | ?2, ?3, ?4, ?5, ?6, ?7)`;
/** Nothing, where the log was deleted or its lease has gone to somebody else; fails where others have appended. */
const ADD_NEXT = `
  INSERT INTO appends (place, at, records, names, data, summary)
  SELECT ?1 << ${SEQ_BITS} | ?2, ?3, ?4, ?5, ?6, ?7 FROM logs WHERE id = ?1 AND epoch = ?8 AND owner IS NOT NULL`;
const KEEP_SUMMARY = `
  UPDATE appends SET summary = ?2
  WHERE place = (SELECT max(place) FROM appends WHERE place > ?1 << ${SEQ_BITS} AND place < (?1 + 1) << ${SEQ_BITS})`;
const COUNT_SYNC = "UPDATE counters SET syncs = syncs + 1";

/** What an append adds. `text` is the data of the records as a JSON list, `summary` what it says of the log. */
interface Addition {
  readonly records: readonly NewRecord[];
  readonly text: string;
  readonly summary: string | undefined;
}

/** The seq of the last record; `at` when all of them were written now. */
interface Written {
  readonly lastSeq: number;
  readonly at: number | undefined;
}

/**
 * Logs in a SQLite database on a local disk, for any number of processes at once.
 * @throws LogError when the file is damaged, another program's, of a newer version, or can't be created
 */
export function createSqliteEventLog(pathOrOptions: string | SqliteEventLogOptions): EventLog {
  const options: SqliteEventLogOptions = typeof pathOrOptions === "string" ? { path: pathOrOptions } : pathOrOptions;
  checkOptionNames("createSqliteEventLog", options, {
    path: true,
    now: true,
    pollMs: true,
    poll: true,
    busyTimeoutMs: true,
    maxRecordBytes: true,
  });
  const { now = Date.now, maxRecordBytes = MAX_RECORD_BYTES, busyTimeoutMs = BUSY_TIMEOUT_MS } = options;
  const database = openSqliteDatabase(options.path);
  const findLog = database.prepare(FIND_LOG);
  const addAppend = database.prepare(ADD_APPEND);
  const addNext = database.prepare(ADD_NEXT);
  let closed = false;
  const assertOpen = (): void => {
    if (closed) throw closedLog();
  };
  const leases = createSqliteLeases({ database, now, busyTimeoutMs, assertOpen });
  const foreignWatch = createForeignWatch(database, options);

  /** What the holder of a lease nearly always does, in one statement. @returns when it was written; nothing where it was not, for whatever reason. */
  function appendNext(
    log: LogId,
    expectedSeq: number,
    { records, text, summary }: Addition,
    epoch: number,
    durability: Durability,
  ): number | undefined {
    const known = database.known.lastKnown(log);
    if (known?.head !== expectedSeq || records.length === 0) return undefined;
    const hashes = known.freeHashes(records);
    if (hashes === undefined) return undefined;
    const rows = rowsOf(log, records, text, maxRecordBytes);
    if (rows.length > 1) return undefined;
    const { names, data } = rows[0] as (typeof rows)[number];
    const at = Math.max(now(), known.at);
    const values = [known.id, known.head + 1, at, records.length, names, data, summary ?? null, epoch];
    if (database.tryWrite(durability, addNext, ...values) === undefined) return undefined;
    database.known.added(known, hashes, at);
    return at;
  }

  /** Within one transaction. */
  function append(
    log: LogId,
    expectedSeq: number | "any",
    { records, text, summary }: Addition,
    { epoch, durability }: AppendOptions,
  ): Written {
    const found = database.known.find(log);
    if (epoch !== undefined) assertEpoch(log, epoch, found === undefined ? undefined : leaseOf(found));
    const { missing, lastSeq } = planAppend(log, expectedSeq, records, text, found);
    if (missing.length === 0) {
      // Whoever wrote these records may have died before they were on disk. A commit that changes a page syncs them, too.
      if (records.length > 0 && durability === "power") database.prepare(COUNT_SYNC).run();
      if (records.length === 0 && summary !== undefined && found !== undefined) database.prepare(KEEP_SUMMARY).run(found.id, summary);
      return { lastSeq, at: undefined };
    }
    const isWhole = missing.length === records.length;
    const known = found ?? database.known.create(log);
    const at = Math.max(now(), known.at);
    const rows = rowsOf(log, missing, isWhole ? text : encodeTogether(log, missing, maxRecordBytes), maxRecordBytes);
    for (const [index, { records: together, names, data }] of rows.entries()) {
      const isLast = index === rows.length - 1;
      addAppend.run(known.id, known.head + 1, at, together.length, names, data, isLast ? (summary ?? null) : null);
      database.known.added(
        known,
        together.map(({ key }) => hashOf(key)),
        at,
      );
    }
    return { lastSeq, at: isWhole ? at : undefined };
  }

  function written(log: LogId, expectedSeq: number | "any", addition: Addition, options: AppendOptions): Written | Promise<Written> {
    const { epoch, durability = "process" } = options;
    if (epoch !== undefined && expectedSeq !== "any") {
      const at = appendNext(log, expectedSeq, addition, epoch, durability);
      if (at !== undefined) return { lastSeq: expectedSeq + addition.records.length, at };
    }
    return database.write(
      durability,
      () => {
        assertOpen();
        return append(log, expectedSeq, addition, options);
      },
      busyTimeoutMs,
    );
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
      appendOptions: AppendOptions = {},
    ): Promise<Appended> {
      assertOpen();
      assertName(log, "The id of a log");
      assertExpectedSeq(log, expectedSeq);
      const text = encodeTogether(log, records, maxRecordBytes);
      const summary = encodeSummary(log, appendOptions.summary, maxRecordBytes);
      const writing = written(log, expectedSeq, { records, text, summary }, appendOptions);
      const { lastSeq, at } = writing instanceof Promise ? await writing : writing;
      database.wake(log);
      return { seq: lastSeq, at: at ?? timeAt(createSqliteRecordSource({ database, log, foreignWatch, assertOpen }), lastSeq) };
    },
    read(log: LogId, readOptions: ReadOptions = {}): AsyncIterable<LogRecord> {
      return readRecords(createSqliteRecordSource({ database, log, foreignWatch, assertOpen }), readOptions);
    },
    async head(log: LogId) {
      assertOpen();
      return database.read(() => (findLog.get(log)?.["head"] as number | null | undefined) ?? 0);
    },
    async list({ prefix = "", after = "", limit = Infinity } = {}) {
      assertOpen();
      return database.read(() => {
        const found: LogInfo[] = [];
        if (limit < 1) return found;
        // In the order of names, those with the prefix stand together.
        for (const { name, head, at, summary } of database.prepare(LIST_LOGS).iterate(prefix, after)) {
          if (!(name as string).startsWith(prefix)) break;
          const about = summaryIn(summary);
          found.push({ log: name as LogId, head: head as number, updatedAt: at as number, ...(about && { summary: about }) });
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
            database.prepare(`DELETE FROM appends WHERE place > ?1 << ${SEQ_BITS} AND place < (?1 + 1) << ${SEQ_BITS}`).run(id as number);
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

function leaseOf({ epoch, owner }: KnownLog): LeaseState | undefined {
  return epoch === null ? undefined : { epoch, owner, ttlMs: 0, expiresAt: 0 };
}
