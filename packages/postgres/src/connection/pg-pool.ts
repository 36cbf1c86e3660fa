import { BEGIN, type Connection, type ConnectionPool, type Row, type SentValue } from "./connection.ts";

type Lost = (error?: Error) => void;
type Heard = (message: { readonly channel: string; readonly payload?: string | undefined }) => void;

/** What of a client of `pg` is used here. */
export interface PgClient {
  query(statement: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }>;
  release(error?: Error | boolean): void;
  on(event: "notification", heard: Heard): unknown;
  on(event: "error", lost: Lost): unknown;
  removeListener(event: "notification", heard: Heard): unknown;
  removeListener(event: "error", lost: Lost): unknown;
}

/** What of a `Pool` of `pg` is used here. */
export interface PgPool {
  query(statement: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }>;
  connect(): Promise<PgClient>;
  readonly options?: { readonly max?: number | undefined };
}

const RETRY_LISTENING_MS = 500;

/**
 * One of its connections listens, while somebody waits for something. If it is the only one, nobody listens: nothing would be left to work with.
 * @param end of a pool that was made here; a user's own is never ended
 */
export function poolOverPg(pool: PgPool, end: () => Promise<void> = async () => {}): ConnectionPool {
  return {
    query: (statement, values) => query(pool, statement, values),
    async transaction<T>(work: (connection: Connection) => Promise<T>, mode: keyof typeof BEGIN = "write") {
      const client = await pool.connect();
      let lost: Error | undefined;
      // Between two statements nobody else listens, and an error without a listener ends the process. The next statement reports it.
      const lose: Lost = (error) => (lost = error);
      client.on("error", lose);
      const giveBack = (error: Error | undefined): void => {
        client.removeListener("error", lose);
        client.release(error);
      };
      try {
        await client.query(`BEGIN ${BEGIN[mode]}`);
        const result = await work({ query: (statement, values) => query(client, statement, values) });
        await client.query("COMMIT");
        giveBack(lost);
        return result;
      } catch (error) {
        // Without its connection the server rolls back by itself.
        await client.query("ROLLBACK").then(() => giveBack(lost), giveBack);
        throw error;
      }
    },
    listen(channel, heard, attached) {
      if (pool.options?.max === 1) return () => {};
      let isOver = false;
      let hangUp: (() => void) | undefined;
      let retry: NodeJS.Timeout | undefined;
      const beginLater = (): void => {
        if (!isOver) retry = setTimeout(begin, RETRY_LISTENING_MS).unref();
      };
      const begin = (): void => {
        listenOnce(pool, channel, heard, () => {
          hangUp = undefined;
          beginLater();
        }).then((stop) => {
          if (isOver) return stop();
          hangUp = stop;
          attached();
        }, beginLater);
      };
      begin();
      return () => {
        isOver = true;
        clearTimeout(retry);
        hangUp?.();
      };
    },
    close: end,
  };
}

/** Listens on a connection of its own until the returned function is called, or the connection is lost. */
async function listenOnce(pool: PgPool, channel: string, heard: (payload: string) => void, lost: () => void): Promise<() => void> {
  const client = await pool.connect();
  let isOver = false;
  const hear: Heard = (message) => {
    if (message.channel === channel) heard(message.payload ?? "");
  };
  const end = (): boolean => {
    if (isOver) return false;
    isOver = true;
    client.removeListener("notification", hear);
    // It is not given back to the pool: others would hear what is said to us.
    client.release(true);
    return true;
  };
  client.on("notification", hear);
  client.on("error", () => {
    if (end()) lost();
  });
  try {
    await client.query(`LISTEN ${quoted(channel)}`);
  } catch (error) {
    end();
    throw error;
  }
  return () => void end();
}

async function query(on: Pick<PgPool, "query">, statement: string, values: readonly SentValue[] = []): Promise<readonly Row[]> {
  // Bytes as a Buffer, and nothing else: `pg` writes other typed arrays as lists.
  const sent = values.map((value) => (value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value));
  return (await on.query(statement, sent)).rows as readonly Row[];
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
