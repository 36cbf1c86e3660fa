import { describeBlobStore, describeBudgetLedger, describeEventLog, describeLogIndex } from "keelson/testing/contracts";
import { createPostgres } from "@keelson/postgres";
import postgres, { type Sql } from "postgres";
import { afterAll, beforeAll, describe } from "vitest";
import { openSharedServer, type SharedServer } from "./support/shared-server.ts";
import { isWithoutServer, needsServer } from "./support/server-binaries.ts";

describe.skipIf(isWithoutServer)(`stores on a server of PostgreSQL${needsServer}`, () => {
  let server: SharedServer;
  beforeAll(async () => {
    server = await openSharedServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  describeEventLog("a log in PostgreSQL", (now) => server.stores({ now }).log);
  describeLogIndex("the index of a log in PostgreSQL", () => server.stores().log);
  describeBlobStore("blobs in PostgreSQL", () => server.stores({}).blobs);
  describeBudgetLedger("a ledger in PostgreSQL", (options) => server.stores(options).ledger);

  describe("through a client of `postgres`", () => {
    let client: Sql;
    beforeAll(() => {
      client = postgres(server.connectionString, { max: 10, onnotice: () => {} });
    });
    afterAll(() => client.end({ timeout: 1 }));
    const stores = (options: object): ReturnType<typeof createPostgres> =>
      createPostgres({ pool: client, schema: server.newSchema(), ...options });

    describeEventLog("a log in PostgreSQL over a client of postgres", (now) => stores({ now }).log);
    describeLogIndex("the index of a log in PostgreSQL over a client of postgres", () => stores({}).log);
    describeBlobStore("blobs in PostgreSQL over a client of postgres", () => stores({}).blobs);
    describeBudgetLedger("a ledger in PostgreSQL over a client of postgres", (options) => stores(options).ledger);
  });
});
