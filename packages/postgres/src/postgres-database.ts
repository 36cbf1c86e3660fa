import type { Connection, ConnectionPool, Row, SentValue, TransactionMode } from "./connection/connection.ts";
import { isPassing, toLogError } from "./postgres-failure.ts";
import { type OpenedSchema, openSchema } from "./schema.ts";

export interface PostgresDatabaseOptions {
  readonly pool: ConnectionPool;
  readonly schema: string;
  /** How long a call keeps trying while the server can't be reached. */
  readonly retryForMs: number;
  /** Names the database in errors. */
  readonly where: string;
}

/**
 * The database under all stores: it has its schema before the first statement runs, and a connection that is lost is no reason to fail
 * as long as another can be had. Whatever is asked of it may therefore run more than once: where a connection broke, nobody knows
 * whether the server has done what was asked. Rejects with `LogError`.
 */
export interface PostgresDatabase {
  readonly schema: string;
  readonly where: string;
  readonly pool: ConnectionPool;
  /** Once the schema is there. */
  readonly opened: OpenedSchema | undefined;
  /** Resolves once the schema is there. */
  ready(): Promise<OpenedSchema>;
  query(statement: string, values?: readonly SentValue[]): Promise<readonly Row[]>;
  /** A transaction that stands still is rolled back by the server after {@link IDLE_TRANSACTION_MS}, so that it holds up nobody. */
  transaction<T>(work: (connection: Connection) => Promise<T>, mode?: TransactionMode): Promise<T>;
}

/** A process that stops between two statements keeps others from its rows for so long at most. */
export const IDLE_TRANSACTION_MS = 5000;
/** Nobody waits longer for the rows of others. */
const LOCK_TIMEOUT_MS = 10_000;
const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 500;

export function openPostgresDatabase({ pool, schema, retryForMs, where }: PostgresDatabaseOptions): PostgresDatabase {
  let opened: OpenedSchema | undefined;
  let opening: Promise<OpenedSchema> | undefined;

  async function open(): Promise<OpenedSchema> {
    try {
      return (opened = await patiently(() => openSchema(pool, schema, where)));
    } finally {
      // A failure is not kept: the next call tries again.
      opening = undefined;
    }
  }

  async function ready(): Promise<OpenedSchema> {
    return opened ?? (opening ??= open());
  }

  async function patiently<T>(attempt: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + retryForMs;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      try {
        return await attempt();
      } catch (error) {
        if (!isPassing(error) || performance.now() + pause > deadline) throw toLogError(error, where);
        // Not all at once, where many lost their connections together.
        await new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random())));
      }
    }
  }

  return {
    schema,
    where,
    pool,
    get opened() {
      return opened;
    },
    ready,
    async query(statement, values) {
      await ready();
      return patiently(() => pool.query(statement, values));
    },
    async transaction(work, mode) {
      await ready();
      return patiently(() =>
        pool.transaction(async (connection) => {
          await connection.query(
            `SELECT set_config('idle_in_transaction_session_timeout', '${IDLE_TRANSACTION_MS}', true), set_config('lock_timeout', '${LOCK_TIMEOUT_MS}', true)`,
          );
          return work(connection);
        }, mode),
      );
    },
  };
}
