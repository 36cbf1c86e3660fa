import type { EventLog, LogId } from "@keelson/protocol";
import pg from "pg";
import { exportSession, importSession } from "keelson/session";
import { createMemoryBlobStore, createMemoryEventLog } from "keelson/state";
import { createPostgres, type PostgresStores } from "@keelson/postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CANARY, describeDeletion, everyRecord, LARGE, now, runnerOn } from "../../runtime/test/agent/deleted-session-laws.ts";
import { systemClock } from "../../runtime/src/platform/clock.ts";
import { impatientClock } from "../../runtime/test/agent/support.ts";
import { openSharedServer, type SharedServer } from "./support/shared-server.ts";
import { isWithoutServer, needsServer } from "./support/server-binaries.ts";

describe.skipIf(isWithoutServer)(`a session that is deleted, in PostgreSQL${needsServer}`, { timeout: 120_000 }, () => {
  let server: SharedServer;
  let admin: pg.Pool;
  beforeAll(async () => {
    server = await openSharedServer();
    admin = new pg.Pool({ connectionString: server.connectionString, max: 5 });
  });
  afterAll(async () => {
    await admin.end();
    await server[Symbol.asyncDispose]();
  });

  function openStores(): { readonly stores: PostgresStores; content(): Promise<string> } {
    const schema = server.newSchema();
    const stores = createPostgres({ pool: admin, schema });
    return { stores, content: async () => `${await tablesOf(schema)}${await everyRecord(stores.log)}` };
  }

  /** Every column of every row of every table. */
  async function tablesOf(schema: string): Promise<string> {
    const { rows } = await admin.query<{ table_name: string }>("SELECT table_name FROM information_schema.tables WHERE table_schema = $1", [
      schema,
    ]);
    const kept: unknown[] = [];
    for (const { table_name: table } of rows)
      for (const row of (await admin.query<Record<string, unknown>>(`SELECT * FROM ${schema}.${table}`)).rows)
        kept.push(...Object.values(row));
    const text = kept.map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : String(value))).join("\n");
    // The words of a text are kept one by one.
    return text.replaceAll(`'${CANARY.split("-")[1]}'`, CANARY);
  }

  it("had its words in the index", async () => {
    const { stores, content } = openStores();
    await stores.log.append("session/a" as LogId, 0, [{ key: "a", type: "t", data: {} }], { texts: [`of ${CANARY}`] });
    await stores.log.index.search("of", { limit: 1 });
    expect(await content()).toContain(CANARY);
    await stores.log.delete("session/a" as LogId);
    expect(await content()).not.toContain(CANARY);
  });

  describeDeletion(() => {
    const { stores, content } = openStores();
    const { log, blobs, state } = stores;
    return { clock: systemClock, place: { log, blobs, state, content } };
  });

  it("is the same where it was imported, by the clock of the database and with the times that it had", async () => {
    const clock = impatientClock();
    const from = { log: createMemoryEventLog({ now: now(clock) }), blobs: createMemoryBlobStore() };
    await runnerOn(from, clock).run(LARGE, { session: "a" }).outcome;
    const { stores, content } = openStores();
    const { log, blobs } = stores;
    expect(await importSession({ log, blobs }, () => exportSession({ ...from, now: () => 5 }, "a"))).toMatchObject({
      session: "a",
      keptTimes: true,
    });
    expect(await linesOf({ log, blobs })).toEqual(await linesOf(from));
    const [listed] = await runnerOn(stores, systemClock).sessions.list();
    expect(listed?.updatedAt).toBeLessThan(Date.now() - 1000);
    expect(await content()).toContain(CANARY);
    const { blobs: removed } = await runnerOn(stores, systemClock).sessions.delete("a");
    expect(removed.left).toBeUndefined();
    expect(await content()).not.toContain(CANARY);
  });
});

async function linesOf({ log, blobs }: Pick<PostgresStores, "blobs"> & { readonly log: EventLog }): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const line of exportSession({ log, blobs, now: () => 5 }, "a")) lines.push(line);
  return lines;
}
