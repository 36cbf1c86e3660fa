import { BEGIN, type Connection, type ConnectionPool, type Row, type SentValue } from "./connection.ts";

type Unsafe = (
  statement: string,
  values: (string | Uint8Array | null)[],
  options: { readonly prepare: boolean },
) => PromiseLike<readonly Row[]>;

/** What of a client of `postgres` is used here. */
export interface PostgresClient {
  readonly options: { readonly prepare: boolean };
  unsafe: Unsafe;
  begin<T>(mode: string, work: (sql: { unsafe: Unsafe }) => Promise<T>): Promise<unknown>;
  listen(channel: string, heard: (payload: string) => void, attached: () => void): PromiseLike<{ unlisten(): Promise<void> }>;
}

/** A user's own client, which is never ended here. It listens on a connection of its own. */
export function poolOverPostgres(client: PostgresClient): ConnectionPool {
  const over = ({ unsafe }: { unsafe: Unsafe }): Connection => ({
    async query(statement: string, values: readonly SentValue[] = []): Promise<readonly Row[]> {
      // Prepared once for each connection, unless the client is told that a proxy stands in between.
      return unsafe(statement, [...values], { prepare: client.options.prepare });
    },
  });
  return {
    ...over(client),
    async transaction<T>(work: (connection: Connection) => Promise<T>, mode: keyof typeof BEGIN = "write") {
      const results: T[] = [];
      await client.begin(BEGIN[mode], async (sql) => {
        results[0] = await work(untilLost(over(sql)));
      });
      return results[0] as T;
    },
    listen(channel, heard, attached) {
      let isOver = false;
      // The client listens again by itself whenever its connection was lost, or could not be had.
      const listening = client.listen(
        channel,
        (payload) => {
          if (!isOver) heard(payload);
        },
        () => {
          if (!isOver) attached();
        },
      );
      const handle = Promise.resolve(listening);
      handle.catch(waitForTheNext);
      return () => {
        isOver = true;
        handle.then(({ unlisten }) => unlisten()).catch(waitForTheNext);
      };
    },
    close: async () => {},
  };
}

/**
 * A connection that says nothing any more once it was lost. The client (3.4.9) answers a failure within a transaction by `ROLLBACK`, which it
 * writes to the socket that is gone: that ends the process. It rejects by itself as soon as the connection is closed.
 */
function untilLost({ query }: Connection): Connection {
  let isLost = false;
  const never = new Promise<never>(() => {});
  return {
    async query(statement, values) {
      if (isLost) return never;
      try {
        return await query(statement, values);
      } catch (error) {
        const { code } = error as { readonly code?: unknown };
        if (typeof code !== "string" || !LOST.test(code)) throw error;
        isLost = true;
        return never;
      }
    },
  };
}

const LOST = /^(CONNECTION_CLOSED|ECONN|EPIPE|ETIMEDOUT)/;

/** What a lost connection did not hear, those who wait look for. */
function waitForTheNext(): void {}
