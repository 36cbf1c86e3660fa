import { createPostgres, type PostgresOptions, type PostgresStores } from "@keelson/postgres";
import pg from "pg";
import { startPostgresServer } from "./postgres-server.ts";

/** A server whose stores stand each in a schema of its own, over one pool. */
export interface SharedServer extends AsyncDisposable {
  readonly connectionString: string;
  newSchema(): string;
  /** New stores, which are closed with the server. */
  stores(options?: Omit<PostgresOptions, "connectionString" | "pool" | "schema">): PostgresStores;
}

export async function openSharedServer(): Promise<SharedServer> {
  const server = await startPostgresServer();
  const connectionString = await server.createDatabase();
  const pool = new pg.Pool({ connectionString, max: 20 });
  const opened: PostgresStores[] = [];
  let schemas = 0;
  const newSchema = (): string => `schema_${++schemas}`;
  return {
    connectionString,
    newSchema,
    stores(options = {}) {
      const stores = createPostgres({ pool, schema: newSchema(), ...options });
      opened.push(stores);
      return stores;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map((stores) => stores.close()));
      await pool.end();
      await server[Symbol.asyncDispose]();
    },
  };
}
