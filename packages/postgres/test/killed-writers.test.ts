import { join } from "node:path";
import { createPostgres } from "@keelson/postgres";
import { afterAll, beforeAll, describe } from "vitest";
import { sampleSize } from "../../../test/tier.ts";
import { describeKilledWriters } from "../../runtime/test/processes/describe-killed-writers.ts";
import { type PostgresServer, startPostgresServer } from "./support/postgres-server.ts";
import { isWithoutServer, needsServer } from "./support/server-binaries.ts";
import { connectionStringOfVictims, victimsAreGone } from "./support/victims.ts";

const ROUNDS = sampleSize("kills of two processes that write to stores of PostgreSQL", { test: 1, ci: 4, soak: 500 });
const SCHEMA = "killed";

describe.skipIf(isWithoutServer)(`stores of PostgreSQL${needsServer}`, () => {
  let server: PostgresServer;
  let connectionString: string;
  beforeAll(async () => {
    server = await startPostgresServer();
    connectionString = await connectionStringOfVictims(server);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  describeKilledWriters("the state, blobs and ledger of a schema that two processes write to", {
    rounds: ROUNDS,
    open: () => createPostgres({ connectionString: server.connectionString(), schema: SCHEMA, maxConnections: 2 }),
    program: join(import.meta.dirname, "processes/write-until-killed.ts"),
    args: () => [connectionString, SCHEMA],
    areGone: () => victimsAreGone(server),
  });
});
