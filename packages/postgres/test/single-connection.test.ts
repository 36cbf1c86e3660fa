import type { LogId } from "@keelson/protocol";
import { createPostgres, type PostgresStores } from "@keelson/postgres";
import { createAgent, createRunner } from "keelson";
import { scriptedModel } from "keelson/testing";
import pg from "pg";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSharedServer, type SharedServer } from "./support/shared-server.ts";
import { isWithoutServer, needsServer } from "./support/server-binaries.ts";

const LOG = "session/a" as LogId;
const note = (key: string) => ({ key, type: "note", data: {} });

describe.skipIf(isWithoutServer)(`a pool of a single connection${needsServer}`, { timeout: 30_000 }, () => {
  let server: SharedServer;
  beforeAll(async () => {
    server = await openSharedServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  /** Two sets of stores on one schema; the first has one connection. */
  async function withBoth(driver: "pg" | "postgres", test: (here: PostgresStores, there: PostgresStores) => Promise<void>): Promise<void> {
    const schema = server.newSchema();
    const pool = driver === "pg" ? new pg.Pool({ connectionString: server.connectionString, max: 1 }) : undefined;
    const client = driver === "pg" ? undefined : postgres(server.connectionString, { max: 1, onnotice: () => {} });
    const here = createPostgres({ pool: pool ?? client, schema, pollMs: 20 });
    const there = createPostgres({ connectionString: server.connectionString, schema });
    try {
      await test(here, there);
    } finally {
      await here.close();
      await there.close();
      await pool?.end();
      await client?.end({ timeout: 1 });
    }
  }

  it.each(["pg", "postgres"] as const)("of %s keeps nobody who follows a log from writing, here and elsewhere", (driver) =>
    withBoth(driver, async (here, there) => {
      const reader = here.log.read(LOG, { follow: true })[Symbol.asyncIterator]();
      const first = reader.next();
      await here.log.append(LOG, 0, [note("a")]);
      expect((await first).value).toMatchObject({ key: "a" });
      const second = reader.next();
      await there.log.append(LOG, 1, [note("b")]);
      expect((await second).value).toMatchObject({ key: "b" });
      await reader.return?.(undefined);
    }),
  );

  it("works sessions, and searches them", () =>
    withBoth("pg", async ({ log, blobs, ledger, state }) => {
      const agent = createAgent({ name: "clerk", model: scriptedModel(["The map is in the drawer."]) });
      const runner = createRunner({ agent, log, blobs, ledger, state });
      await runner.run("Where is it?", { session: "a" }).outcome;
      expect((await runner.sessions.search("drawer")).hits).toMatchObject([{ session: "a" }]);
      await runner.sessions.delete("a");
    }));
});
