export { createPostgres, type PostgresOptions, type PostgresStores } from "./create-postgres.ts";
export type { PostgresEventLog } from "./postgres-event-log.ts";
export type { PgClient, PgPool } from "./connection/pg-pool.ts";
export type { PostgresClient } from "./connection/postgres-pool.ts";
