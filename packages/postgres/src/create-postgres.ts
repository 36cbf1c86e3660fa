import { type BlobStore, type BudgetLedger, type Embedder, LogError, type StateStore } from "@keelson/protocol";
import { checkOptionNames, MAX_BLOB_BYTES, MAX_RECORD_BYTES, type Poll, pollByTimer } from "keelson/state/kit";
import pg from "pg";
import { createChangeHub } from "./change-hub.ts";
import type { ConnectionPool } from "./connection/connection.ts";
import { type PgPool, poolOverPg } from "./connection/pg-pool.ts";
import { poolOverPostgres, type PostgresClient } from "./connection/postgres-pool.ts";
import { createPostgresBlobStore } from "./postgres-blob-store.ts";
import { createPostgresBudgetLedger } from "./postgres-budget-ledger.ts";
import { openPostgresDatabase } from "./postgres-database.ts";
import { createPostgresEventLog, type PostgresEventLog } from "./postgres-event-log.ts";
import { createPostgresStateStore } from "./postgres-state-store.ts";
import { assertSchemaName } from "./schema.ts";

export interface PostgresOptions {
  /** As in `postgres://user:password@host:5432/database`; connections are made when they are first needed, and ended by `close`. */
  readonly connectionString?: string | undefined;
  /**
   * Instead of a connection string: a `Pool` of `pg`, or a client of `postgres`. Closing leaves it open. With a `Pool` of one connection nobody
   * can listen, so those who wait hear of other processes' changes by looking, every `pollMs`.
   */
  readonly pool?: PostgresClient | PgPool | undefined;
  /** Where the tables are; it is created when it is missing. Default `keelson`. */
  readonly schema?: string | undefined;
  /** With a connection string: so many connections at most, and one more that listens. Default 10. */
  readonly maxConnections?: number | undefined;
  /** How long a call keeps trying while the server can't be reached. Default 10 s. */
  readonly retryForMs?: number | undefined;
  /** How often those who wait look for themselves, in case a word was lost. Default 2 s. */
  readonly pollMs?: number | undefined;
  /** Repeats `tick` every so many ms until the returned function is called. Default a timer. */
  readonly poll?: Poll | undefined;
  /** Unix ms. Default: the clock of the database, the same for all who use it. */
  readonly now?: (() => number) | undefined;
  /** Default 64 MiB of JSON text. */
  readonly maxRecordBytes?: number | undefined;
  /** Default 256 MiB. */
  readonly maxBlobBytes?: number | undefined;
  /** Default 16 MiB of JSON text. */
  readonly maxValueBytes?: number | undefined;
  /** Makes searches of `state` find what means the same in other words. Its requests are made by searches, for what was written since the last. */
  readonly embedder?: Embedder | undefined;
  /** When a reservation that nobody settled is presumed spent, also where nobody can know whether its owner lives. Default 1 hour. */
  readonly presumeSpentAfterMs?: number | undefined;
  /** Whether the owner of a reservation is known to have ended. Default: its process, on this machine, has. */
  readonly isDeadOwner?: ((owner: string) => boolean) | undefined;
}

/** The stores of one schema, all on one pool. */
export interface PostgresStores extends AsyncDisposable {
  readonly log: PostgresEventLog;
  readonly blobs: BlobStore;
  readonly ledger: BudgetLedger;
  readonly state: StateStore;
  /** Connects, and creates or updates the schema, which the first call does otherwise. */
  ready(): Promise<void>;
  /** Gives leases back, and ends the connections that were made here. */
  close(): Promise<void>;
}

const POLL_MS = 2000;
const RETRY_FOR_MS = 10_000;
const MAX_CONNECTIONS = 10;

/**
 * Event log, blobs, budgets and state in a schema of a PostgreSQL database, for any number of processes on any number of machines.
 * @throws LogError `invalid-input` for options that can't work. That the database can't be reached, each call tells for itself.
 */
export function createPostgres(options: PostgresOptions): PostgresStores {
  checkOptionNames("createPostgres", options, {
    connectionString: true,
    pool: true,
    schema: true,
    maxConnections: true,
    retryForMs: true,
    pollMs: true,
    poll: true,
    now: true,
    maxRecordBytes: true,
    maxBlobBytes: true,
    maxValueBytes: true,
    embedder: true,
    presumeSpentAfterMs: true,
    isDeadOwner: true,
  });
  const { schema = "keelson", now, poll = pollByTimer, pollMs = POLL_MS, retryForMs = RETRY_FOR_MS } = options;
  const { maxRecordBytes = MAX_RECORD_BYTES, maxBlobBytes = MAX_BLOB_BYTES } = options;
  assertSchemaName(schema);
  const { pool, where } = connect(options);
  const database = openPostgresDatabase({ pool, schema, retryForMs, where });
  const hub = createChangeHub({ database, poll, pollMs });
  const blobs = createPostgresBlobStore({ database, now, maxBlobBytes });
  const ledger = createPostgresBudgetLedger({ database, hub, now, poll, options });
  const state = createPostgresStateStore({ database, now, embedder: options.embedder, maxValueBytes: options.maxValueBytes });
  const log = createPostgresEventLog({ database, hub, blobs, ledger, state, now, maxRecordBytes });
  let closing: Promise<void> | undefined;

  async function close(): Promise<void> {
    try {
      await log[Symbol.asyncDispose]();
    } finally {
      await ledger[Symbol.asyncDispose]();
      await blobs[Symbol.asyncDispose]();
      await state[Symbol.asyncDispose]();
      hub.close();
      await hub.settled();
      await pool.close();
    }
  }

  return {
    log,
    blobs,
    ledger,
    state,
    async ready() {
      await database.ready();
    },
    close: () => (closing ??= close()),
    [Symbol.asyncDispose]: () => (closing ??= close()),
  };
}

function connect({ connectionString, pool, maxConnections = MAX_CONNECTIONS }: PostgresOptions): {
  readonly pool: ConnectionPool;
  readonly where: string;
} {
  if ((connectionString === undefined) === (pool === undefined)) throw invalid("createPostgres needs either a connectionString or a pool.");
  if (pool !== undefined) {
    const where = "The PostgreSQL database";
    if (isPostgresClient(pool)) return { pool: poolOverPostgres(pool), where };
    if (typeof pool.query === "function" && typeof pool.connect === "function") return { pool: poolOverPg(pool), where };
    throw invalid("The pool of createPostgres must be a `Pool` of `pg` or a client of `postgres`.");
  }
  if (!Number.isSafeInteger(maxConnections) || maxConnections < 1)
    throw invalid(`createPostgres needs at least one connection; maxConnections is ${maxConnections}.`);
  let where: string;
  try {
    const { hostname, port, pathname } = new URL(connectionString as string);
    // Never with the password.
    where = `The database ${hostname || "localhost"}${port === "" ? "" : `:${port}`}${pathname}`;
  } catch (cause) {
    throw invalid("The connectionString of createPostgres must be like postgres://user:password@host:5432/database.", cause);
  }
  const ours = new pg.Pool({
    connectionString: connectionString as string,
    // One of them listens.
    max: maxConnections + 1,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: "keelson",
    keepAlive: true,
  });
  // Of a connection that breaks while nobody uses it, nobody need know: the next call gets another.
  ours.on("error", () => {});
  return { pool: poolOverPg(ours, () => ours.end()), where };
}

const CONNECT_TIMEOUT_MS = 10_000;

function isPostgresClient(pool: PostgresClient | PgPool): pool is PostgresClient {
  return "unsafe" in pool && typeof pool.unsafe === "function" && typeof pool.begin === "function";
}

function invalid(message: string, cause?: unknown): LogError {
  return new LogError({ kind: "invalid-input", message }, cause === undefined ? undefined : { cause });
}
