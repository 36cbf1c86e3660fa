import type { PgClient, PgPool } from "@keelson/postgres";
import { pglitePath, pglitePgvectorPath } from "./server-binaries.ts";

interface Pglite {
  query(statement: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }>;
  close(): Promise<void>;
}

export interface PglitePool extends PgPool {
  /** What was asked of it. */
  readonly statements: string[];
  end(): Promise<void>;
}

/** PostgreSQL as WebAssembly, with pgvector, as a pool of one connection. */
export async function openPglitePool(): Promise<PglitePool> {
  const { PGlite } = (await import(pglitePath)) as { readonly PGlite: { create(options: object): Promise<Pglite> } };
  const { vector } = (await import(pglitePgvectorPath)) as { readonly vector: object };
  const database = await PGlite.create({ extensions: { vector } });
  const statements: string[] = [];
  /** Who has the connection, and those who wait for it. */
  let last: Promise<void> = Promise.resolve();
  const query = (statement: string, values: unknown[] = []): Promise<{ readonly rows: unknown[] }> => {
    statements.push(statement);
    return database.query(statement, values);
  };
  const take = async (): Promise<() => void> => {
    const before = last;
    const { promise, resolve } = Promise.withResolvers<void>();
    last = promise;
    await before;
    return resolve;
  };
  return {
    statements,
    async query(statement, values) {
      const giveBack = await take();
      try {
        return await query(statement, values);
      } finally {
        giveBack();
      }
    },
    async connect(): Promise<PgClient> {
      const giveBack = await take();
      return { query, release: giveBack, on: () => {}, removeListener: () => {} };
    },
    end: () => database.close(),
  };
}
