import { eventually } from "../../../restate/test/support/eventually.ts";
import type { PostgresServer } from "./postgres-server.ts";

// A user of their own, by whom the server tells their connections from all others.
const USER = "victim";

/** What processes that are to be killed connect with. */
export async function connectionStringOfVictims({ admin, connectionString }: PostgresServer): Promise<string> {
  await admin.unsafe(`CREATE ROLE ${USER} SUPERUSER LOGIN`);
  return connectionString("postgres", USER);
}

/** Resolves once the server has closed the connections of those that were killed: until then it may do what they had sent. */
export async function victimsAreGone({ admin }: PostgresServer): Promise<void> {
  await eventually("the end of the connections of killed processes", async () =>
    (await admin`SELECT 1 FROM pg_stat_activity WHERE usename = ${USER}`).length === 0 ? true : undefined,
  );
}
