/** Values as they are sent: text (numbers and dates, too: each statement says what they are), bytes, or nothing. */
export type SentValue = string | Uint8Array | null;

/** A row as it comes. Numbers may come as text: each reader says what it expects. */
export type Row = { readonly [column: string]: unknown };

/** What runs one statement. */
export interface Connection {
  query(statement: string, values?: readonly SentValue[]): Promise<readonly Row[]>;
}

/**
 * All that the stores need of a client of PostgreSQL: one small interface over `postgres` and `pg`, whose failures are passed on as they
 * are. A statement that is no part of a transaction is one by itself, on any connection of the pool.
 */
export interface ConnectionPool extends Connection {
  /** Runs `work` between `BEGIN` and `COMMIT`; where it rejects, nothing of it is kept. */
  transaction<T>(work: (connection: Connection) => Promise<T>, mode?: TransactionMode): Promise<T>;
  /**
   * Hears what is said on a channel until the returned function is called. `attached` is called whenever it begins to hear, after a
   * lost connection as well: what was said before, nobody heard. A pool that can't spare a connection hears nothing.
   */
  listen(channel: string, heard: (payload: string) => void, attached: () => void): () => void;
  /** Ends the connections that were made here; those of a client that a user passed in are left open. */
  close(): Promise<void>;
}

/** `snapshot`: all statements see one moment, and change nothing. */
export type TransactionMode = "write" | "snapshot";

export const BEGIN: { readonly [Mode in TransactionMode]: string } = {
  write: "ISOLATION LEVEL READ COMMITTED",
  snapshot: "ISOLATION LEVEL REPEATABLE READ READ ONLY",
};
