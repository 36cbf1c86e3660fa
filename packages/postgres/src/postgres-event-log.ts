import type {
  Appended,
  AppendOptions,
  BlobStore,
  BudgetLedger,
  EventLog,
  Lease,
  LogId,
  LogIndex,
  LogInfo,
  LogRecord,
  NewRecord,
  Sealed,
  SealOptions,
  StateStore,
} from "@keelson/protocol";
import { LogError, sessionOf } from "@keelson/protocol";
import {
  areWordless,
  assertEpoch,
  assertExpectedSeq,
  assertName,
  assertTime,
  closedLog,
  encodeRecords,
  encodeSummary,
  planAppend,
  readRecords,
  type ReadOptions,
  textsByKey,
  type TextsByKey,
  timeAt,
  checkMethodOptions,
  EVENT_LOG_METHODS,
} from "keelson/state/kit";
import type { ChangeHub } from "./change-hub.ts";
import { createPostgresHeldTexts } from "./postgres-held-texts.ts";
import { createPostgresLeases } from "./postgres-leases.ts";
import { createPostgresLogIndex } from "./postgres-log-index.ts";
import { createPostgresRecordSource } from "./postgres-record-source.ts";
import { sealPostgresLog } from "./postgres-sealing.ts";
import { logStatements } from "./postgres-log-statements.ts";
import { isTaken } from "./postgres-failure.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import { nameIn, storedName } from "./stored-name.ts";

/** Brings the blobs, the ledger and the state of the same database. */
export interface PostgresEventLog extends EventLog {
  readonly blobs: BlobStore;
  readonly ledger: BudgetLedger;
  readonly state: StateStore;
  readonly index: LogIndex;
  seal(log: LogId, options: SealOptions): Promise<Sealed>;
}

/** What somebody asks to be appended. */
interface Request {
  readonly log: LogId;
  readonly expectedSeq: number | "any";
  readonly records: readonly NewRecord[];
  readonly texts: readonly string[];
  readonly summary: string | undefined;
  readonly epoch: number | undefined;
  readonly isOnDisk: boolean;
  /** Unix ms: since when they stand. Default now. */
  readonly at: number | undefined;
  /** What they are found by. */
  readonly words: TextsByKey | undefined;
}

/** The seq of the last record; `at` when all of them were written now. */
interface Written {
  readonly lastSeq: number;
  readonly at: number | undefined;
}

/** So often others may be faster before it is said that the log is busy. */
const ATTEMPTS = 200;
const LOGS_PER_PAGE = 1000;

export function createPostgresEventLog(of: {
  readonly database: PostgresDatabase;
  readonly hub: ChangeHub;
  readonly blobs: BlobStore;
  readonly ledger: BudgetLedger;
  readonly state: StateStore;
  /** Unix ms. Default: the clock of the database. */
  readonly now: (() => number) | undefined;
  readonly maxRecordBytes: number;
}): PostgresEventLog {
  const { database, hub, blobs, ledger, state, now, maxRecordBytes } = of;
  const { schema } = database;
  const statements = logStatements(database, now);
  let closed = false;
  const assertOpen = (): void => {
    if (closed) throw closedLog();
  };
  const heldTexts = createPostgresHeldTexts(database);
  const leases = createPostgresLeases({ database, now, assertOpen });
  const sourceOf = (log: LogId): ReturnType<typeof createPostgresRecordSource> =>
    createPostgresRecordSource({ database, hub, log, assertOpen });
  const list = `
    SELECT name, head, at, summary FROM ${schema}.logs
    WHERE head > 0 AND name > $1::text COLLATE "C" AND name >= $2::text COLLATE "C" AND starts_with(name, $2::text)
    ORDER BY name LIMIT $3::text::bigint`;
  const remove = `
    WITH gone AS (DELETE FROM ${schema}.logs WHERE name = $1::text RETURNING id)
    DELETE FROM ${schema}.records r USING gone WHERE r.log = gone.id`;

  /** In one statement, which is what nearly always comes of it. @returns nothing where the log has to be looked at */
  async function tryAppend({ expectedSeq, words, ...request }: Request): Promise<Written | undefined> {
    if (request.records.length === 0) return undefined;
    try {
      const { log, records } = request;
      const isWordless = sessionOf(log) === undefined || areWordless(words);
      const added = await statements.append({ ...request, isWordless, head: expectedSeq === "any" ? undefined : expectedSeq });
      if (added === undefined) return undefined;
      if (words !== undefined && !isWordless) heldTexts.hold({ id: added.id, after: added.head - records.length, records }, words);
      return { lastSeq: added.head, at: added.at };
    } catch (error) {
      if (isKeyTaken(error)) return undefined;
      throw error;
    }
  }

  /** Looks what the log holds and appends what is missing, as long as the log stays as it was seen. */
  async function appendMissing(request: Request): Promise<Written> {
    const { log, expectedSeq, records, texts, summary, epoch, isOnDisk } = request;
    const text = `[${texts.join(",")}]`;
    const textOf = new Map(records.map(({ key }, index) => [key, texts[index] as string]));
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const found = await statements.find(
        log,
        records.map(({ key }) => key),
      );
      if (epoch !== undefined) assertEpoch(log, epoch, found?.lease);
      const head = found?.head ?? 0;
      const { missing, lastSeq } = planAppend({ log, expectedSeq, records, text }, { head, standing: found?.standing ?? new Map() });
      if (missing.length === 0) {
        // Whoever wrote these records may have died before they were on disk.
        if (records.length > 0 && isOnDisk) await statements.synchronize();
        const says = records.length === 0 && summary !== undefined && head > 0;
        if (!says || (await statements.keepSummary({ log, head, epoch, summary }))) return { lastSeq, at: undefined };
        continue;
      }
      const added = await tryAppend({
        ...request,
        expectedSeq: head,
        records: missing,
        texts: missing.map(({ key }) => textOf.get(key) as string),
      });
      if (added !== undefined) return { lastSeq, at: missing.length === records.length ? added.at : undefined };
    }
    throw new LogError({
      kind: "unavailable",
      message: `Others wrote to log "${log}" again and again while this append was tried. Try again.`,
    });
  }

  /** The last append to each log: what is called later takes effect later. */
  const last = new Map<LogId, Promise<unknown>>();
  function inTurn<T>(log: LogId, work: () => Promise<T>): Promise<T> {
    const before = last.get(log);
    const turn = before === undefined ? work() : before.then(work);
    const settled = turn.then(
      () => {},
      () => {},
    );
    last.set(log, settled);
    void settled.then(() => {
      if (last.get(log) === settled) last.delete(log);
    });
    return turn;
  }

  const eventLog: PostgresEventLog = {
    blobs,
    ledger,
    state,
    index: createPostgresLogIndex({ database, flush: heldTexts.flush, assertOpen }),
    async append(log: LogId, expectedSeq: number | "any", given: readonly NewRecord[], options: AppendOptions = {}): Promise<Appended> {
      assertOpen();
      assertName(log, "The id of a log");
      assertExpectedSeq(log, expectedSeq);
      const texts = encodeRecords(log, given, maxRecordBytes);
      const summary = encodeSummary(log, options.summary, maxRecordBytes);
      const { epoch, durability = "process", at: since } = options;
      if (since !== undefined) assertTime(log, since);
      const words = textsByKey(given, options.texts);
      const isOnDisk = durability === "power";
      const request: Request = { log, expectedSeq, records: [...given], texts, summary, epoch, isOnDisk, at: since, words };
      const { lastSeq, at } = await inTurn(log, async () => (await tryAppend(request)) ?? (await appendMissing(request)));
      hub.changed(log);
      return { seq: lastSeq, at: at ?? (lastSeq === 0 ? 0 : await timeAt(sourceOf(log), lastSeq)) };
    },
    read: (log: LogId, options: ReadOptions = {}): AsyncIterable<LogRecord> => readRecords(sourceOf(log), options),
    async head(log: LogId) {
      assertOpen();
      return (await statements.find(log, []))?.head ?? 0;
    },
    async list({ prefix = "", after = "", limit = Infinity } = {}) {
      assertOpen();
      const found: LogInfo[] = [];
      for (let last = after; found.length < limit;) {
        const size = Math.min(LOGS_PER_PAGE, limit - found.length);
        const rows = await database.query(list, [storedName(last), storedName(prefix), String(size)]);
        for (const row of rows) found.push(infoIn(row));
        if (rows.length < size) break;
        last = found.at(-1)?.log ?? "";
      }
      return found;
    },
    async delete(log: LogId) {
      assertOpen();
      await inTurn(log, () => database.query(remove, [storedName(log)]));
      hub.changed(log);
    },
    seal: (log: LogId, options: SealOptions) => sealPostgresLog({ database, assertOpen }, log, options),
    acquire: (log: LogId, request: { readonly owner: string; readonly ttlMs: number }): Promise<Lease> => leases.acquire(log, request),
    async [Symbol.asyncDispose]() {
      if (closed) return;
      closed = true;
      // Readers that wait see that it is closed.
      hub.wakeAll();
      await Promise.all(last.values());
      await Promise.all([heldTexts.flush(), leases.releaseAll()]);
    },
  };
  return checkMethodOptions("log", eventLog, EVENT_LOG_METHODS);
}

function infoIn({ name, head, at, summary }: { readonly [column: string]: unknown }): LogInfo {
  const about = summaryIn(summary);
  return { log: nameIn(String(name)) as LogId, head: Number(head), updatedAt: Number(at), ...(about && { summary: about }) };
}

/** A damaged one says nothing: whoever wants to know reads the log. */
function summaryIn(text: unknown): LogInfo["summary"] {
  if (typeof text !== "string") return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as NonNullable<LogInfo["summary"]>) : undefined;
  } catch {
    return undefined;
  }
}

function isKeyTaken(error: unknown): boolean {
  return LogError.is(error) && isTaken(error.cause);
}
