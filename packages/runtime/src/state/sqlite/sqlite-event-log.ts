import {
  type Appended,
  type AppendOptions,
  type BlobStore,
  type BudgetLedger,
  type EventLog,
  type Lease,
  type LogId,
  type LogIndex,
  type LogInfo,
  type LogRecord,
  type NewRecord,
  type Sealed,
  type SealOptions,
  sessionOf,
  type StateStore,
} from "@keelson/protocol";
import { assertName, encodeSummary, encodeTogether, MAX_RECORD_BYTES } from "../kit/encoded-record.ts";
import { assertEpoch, type LeaseState } from "../kit/lease-state.ts";
import { assertExpectedSeq, assertTime, closedLog } from "../kit/log-conflict.ts";
import { type AppendRequest, type LogContent, planAppend } from "../kit/plan-append.ts";
import { areWordless, type HeldTexts, textsByKey, type TextsByKey } from "../kit/held-texts.ts";
import { type ReadOptions, readRecords, timeAt } from "../kit/read-records.ts";
import { rowsOf, summaryIn } from "./sqlite-append-row.ts";
import { openSqliteDatabase } from "./sqlite-database.ts";
import { BUSY_TIMEOUT_MS } from "./sqlite-file.ts";
import type { Poll } from "../kit/poll.ts";
import { createForeignWatch } from "./sqlite-foreign-watch.ts";
import { createSqliteBudgetLedger, type SqliteBudgetLedger } from "./sqlite-budget-ledger.ts";
import { createSqliteBlobStore } from "./sqlite-blob-store.ts";
import { contentOf, findLog, LAST_APPEND, LAST_SEQ, type LogRow } from "./sqlite-log-row.ts";
import { createSqliteLeases } from "./sqlite-leases.ts";
import { createSqliteHeldTexts } from "./sqlite-held-texts.ts";
import { createSqliteLogIndex, forgetTexts } from "./sqlite-log-index.ts";
import { createSqliteRecordSource } from "./sqlite-record-source.ts";
import { SEQ_BITS } from "./sqlite-schema.ts";
import { mergeSomeText } from "./sqlite-text-merge.ts";
import { createSqliteStore } from "./sqlite-store.ts";
import { checkOptionNames } from "../../json/option-names.ts";
import { checkMethodOptions } from "../../json/check-method-options.ts";
import { EVENT_LOG_METHODS } from "../../json/interface-methods.ts";
import { BOUND_OPTION, FUNCTION_OPTION, POSITIVE_OPTION } from "../../json/option-rules.ts";

/** Brings the blobs, the ledger and the state store of the same file; each is opened when it is first asked for, and closed with the log. */
export interface SqliteEventLog extends EventLog {
  readonly blobs: BlobStore;
  readonly ledger: BudgetLedger;
  readonly state: StateStore;
  readonly index: LogIndex;
  seal(log: LogId, options: SealOptions): Promise<Sealed>;
}

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

const ADD_APPEND = `INSERT INTO appends (place, at, records, names, data, summary, indexed) VALUES (?1 << ${SEQ_BITS} | ?2, ?3, ?4, ?5, ?6, ?7, ?8)`;
/** Nothing, where the log does not end at `?2`, its lease has gone to somebody else, or its clock was ahead; fails where a key is taken. */
const ADD_NEXT = `
  INSERT INTO appends (place, at, records, names, data, summary, indexed)
  SELECT l.id << ${SEQ_BITS} | (?2 + 1), ?3, ?4, ?5, ?6, ?7, ?9 FROM logs l LEFT JOIN appends a ON a.place = ${LAST_APPEND}
  WHERE l.name = ?1 AND l.epoch = ?8 AND l.owner IS NOT NULL AND coalesce(${LAST_SEQ}, 0) = ?2 AND coalesce(a.at, 0) <= ?3`;
const KEEP_SUMMARY = `UPDATE appends SET summary = ?2 WHERE place = (SELECT ${LAST_APPEND} FROM logs l WHERE l.id = ?1)`;
const COUNT_SYNC = "UPDATE counters SET syncs = syncs + 1";
const LIST_LOGS = `
  SELECT l.name, ${LAST_SEQ} AS head, a.at, a.summary FROM logs l JOIN appends a ON a.place = ${LAST_APPEND}
  WHERE l.name >= ? AND l.name > ? ORDER BY l.name`;
const DELETE_APPENDS = `DELETE FROM appends WHERE place > ?1 << ${SEQ_BITS} AND place < (?1 + 1) << ${SEQ_BITS}`;

/** What an append has to do, with what it says of its log as JSON text. */
interface Addition extends AppendRequest {
  readonly summary: string | undefined;
  readonly indexed: IndexedMark;
}

/** The seq of the last record; `at` when all of them were written now. */
interface Written {
  readonly lastSeq: number;
  readonly at: number | undefined;
  readonly added?: Parameters<HeldTexts<number>["hold"]>[0];
}

/**
 * Logs in a SQLite database on a local disk, for any number of processes at once.
 * @throws LogError when the file is damaged, another program's, of a newer version, or can't be created
 */
export function createSqliteEventLog(pathOrOptions: string | SqliteEventLogOptions): SqliteEventLog {
  const options: SqliteEventLogOptions = typeof pathOrOptions === "string" ? { path: pathOrOptions } : pathOrOptions;
  checkOptionNames("createSqliteEventLog", options, {
    path: true,
    now: FUNCTION_OPTION,
    pollMs: POSITIVE_OPTION,
    poll: true,
    busyTimeoutMs: BOUND_OPTION,
    maxRecordBytes: BOUND_OPTION,
  });
  const { now = Date.now, maxRecordBytes = MAX_RECORD_BYTES, busyTimeoutMs = BUSY_TIMEOUT_MS } = options;
  const database = openSqliteDatabase(options.path);
  const addAppend = database.prepare(ADD_APPEND);
  const addNext = database.prepare(ADD_NEXT);
  let closed = false;
  const assertOpen = (): void => {
    if (closed) throw closedLog();
  };
  const heldTexts = createSqliteHeldTexts(database, busyTimeoutMs);
  const leases = createSqliteLeases({ database, now, busyTimeoutMs, assertOpen });
  const foreignWatch = createForeignWatch(database, options);

  /** What the holder of a lease nearly always does, in one statement. @returns nothing where it was not written, for whatever reason */
  function tryNext(
    { log, expectedSeq, records, text, summary, indexed }: Addition,
    epoch: number,
    { durability = "process", at = now() }: AppendOptions,
  ): Written | undefined {
    if (expectedSeq === "any" || records.length === 0) return undefined;
    const [row, ...more] = rowsOf(log, records, text, maxRecordBytes);
    if (row === undefined || more.length > 0) return undefined;
    const values = [log, expectedSeq, at, records.length, row.names, row.data, summary ?? null, epoch, indexed];
    const written = database.tryWrite(durability, addNext, ...values);
    if (written === undefined) return undefined;
    // Whatever JavaScript rounds off a place, it is not the log's number.
    const id = Math.floor(Number(written.lastInsertRowid) / 2 ** SEQ_BITS);
    return { lastSeq: expectedSeq + records.length, at, added: { id, after: expectedSeq, records } };
  }

  /** Within one transaction. */
  function append(addition: Addition, { epoch, durability, at: since = now() }: AppendOptions): Written {
    const { log, records, text, summary, indexed } = addition;
    const found = findLog(database, log);
    if (epoch !== undefined) assertEpoch(log, epoch, leaseOf(found));
    const content = found === undefined ? EMPTY : contentOf(database, log, found, records);
    const { missing, lastSeq } = planAppend(addition, content);
    if (missing.length === 0) {
      // Whoever wrote these records may have died before they were on disk. A commit that changes a page syncs them, too.
      if (records.length > 0 && durability === "power") database.prepare(COUNT_SYNC).run();
      if (records.length === 0 && summary !== undefined && found !== undefined) database.prepare(KEEP_SUMMARY).run(found.id, summary);
      return { lastSeq, at: undefined };
    }
    const isWhole = missing.length === records.length;
    const id = found?.id ?? (database.prepare("INSERT INTO logs (name) VALUES (?) RETURNING id").get(log)?.["id"] as number);
    const at = Math.max(since, found?.at ?? 0);
    let seq = content.head + 1;
    const rows = rowsOf(log, missing, isWhole ? text : encodeTogether(log, missing, maxRecordBytes), maxRecordBytes);
    for (const [index, { records: together, names, data }] of rows.entries()) {
      const about = index === rows.length - 1 ? (summary ?? null) : null;
      addAppend.run(id, seq, at, together.length, names, data, about, indexed);
      seq += together.length;
    }
    return { lastSeq, at: isWhole ? at : undefined, added: { id, after: content.head, records: missing } };
  }

  async function written(addition: Addition, appendOptions: AppendOptions): Promise<Written> {
    const { epoch, durability = "process" } = appendOptions;
    const next = epoch === undefined ? undefined : tryNext(addition, epoch, appendOptions);
    if (next !== undefined) return next;
    return database.write(
      durability,
      () => {
        assertOpen();
        return append(addition, appendOptions);
      },
      busyTimeoutMs,
    );
  }

  let blobs: BlobStore | undefined;
  let ledger: SqliteBudgetLedger | undefined;
  let state: StateStore | undefined;

  const eventLog: SqliteEventLog = {
    index: createSqliteLogIndex({ database, busyTimeoutMs, flush: heldTexts.flush, assertOpen }),
    // Opened for who asks for it: many logs have a store of their own beside them.
    get blobs() {
      return (blobs ??= createSqliteBlobStore({ path: options.path, now, busyTimeoutMs }));
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
    get state() {
      return (state ??= createSqliteStore({ path: options.path, now, busyTimeoutMs }));
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
      if (appendOptions.at !== undefined) assertTime(log, appendOptions.at);
      const text = encodeTogether(log, records, maxRecordBytes);
      const summary = encodeSummary(log, appendOptions.summary, maxRecordBytes);
      const texts = textsByKey(records, appendOptions.texts);
      const indexed = indexedMark(log, texts);
      const { lastSeq, at, added } = await written({ log, expectedSeq, records, text, summary, indexed }, appendOptions);
      if (added !== undefined && texts !== undefined && indexed === null) heldTexts.hold(added, texts);
      database.wake(log);
      return { seq: lastSeq, at: at ?? (await timeAt(createSqliteRecordSource({ database, log, foreignWatch, assertOpen }), lastSeq)) };
    },
    read(log: LogId, readOptions: ReadOptions = {}): AsyncIterable<LogRecord> {
      return readRecords(createSqliteRecordSource({ database, log, foreignWatch, assertOpen }), readOptions);
    },
    async head(log: LogId) {
      assertOpen();
      return database.read(() => findLog(database, log)?.head ?? 0);
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
          const id = database.prepare("DELETE FROM logs WHERE name = ? RETURNING id").get(log)?.["id"] as number | undefined;
          if (id === undefined) return;
          forgetTexts(database, id);
          database.prepare(DELETE_APPENDS).run(id);
          database.prepare("DELETE FROM keys WHERE log = ?").run(id);
        },
        busyTimeoutMs,
      );
      database.wake(log);
    },
    seal: async (log: LogId, sealOptions: SealOptions) =>
      (await import("./sqlite-sealing.ts")).sealSqliteLog({ database, busyTimeoutMs, assertOpen }, log, sealOptions),
    acquire(log: LogId, request: { readonly owner: string; readonly ttlMs: number }): Promise<Lease> {
      return leases.acquire(log, request);
    },
    async [Symbol.asyncDispose]() {
      if (closed) return;
      try {
        await heldTexts.flush(0);
        // Of many processes that add little, each does its part.
        mergeSomeText(database, "log_text");
        await leases.releaseAll();
      } finally {
        closed = true;
        foreignWatch.close();
        await blobs?.[Symbol.asyncDispose]();
        await ledger?.[Symbol.asyncDispose]();
        await state?.[Symbol.asyncDispose]();
        database.close();
      }
    },
  };
  return checkMethodOptions("log", eventLog, EVENT_LOG_METHODS);
}

const EMPTY: LogContent = { head: 0, standing: new Map() };

/** Null where records are to be found by something and are not in the index yet: the database takes note of them. */
type IndexedMark = 1 | null;

function indexedMark(log: LogId, texts: TextsByKey | undefined): IndexedMark {
  return sessionOf(log) === undefined || areWordless(texts) ? 1 : null;
}

function leaseOf(row: LogRow | undefined): LeaseState | undefined {
  return row === undefined || row.epoch === null ? undefined : { epoch: row.epoch, owner: row.owner, ttlMs: 0, expiresAt: 0 };
}
