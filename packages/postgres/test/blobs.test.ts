import { LogError } from "@keelson/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPostgres } from "@keelson/postgres";
import pg from "pg";
import { poolOverPg } from "../src/connection/pg-pool.ts";
import { openSchema } from "../src/schema.ts";
import { openSharedServer, type SharedServer } from "./support/shared-server.ts";
import { isWithoutServer, needsServer } from "./support/server-binaries.ts";

describe.skipIf(isWithoutServer)(`blobs in PostgreSQL that some put while others remove them${needsServer}`, { timeout: 60_000 }, () => {
  let server: SharedServer;
  let pool: pg.Pool;
  beforeAll(async () => {
    server = await openSharedServer();
    pool = new pg.Pool({ connectionString: server.connectionString, max: 8 });
  });
  afterAll(async () => {
    await pool.end();
    await server[Symbol.asyncDispose]();
  });

  it.each([
    ["of one row", 1000, 40],
    ["of several rows", 2_200_000, 6],
  ])("stay where they were put since, %s", async (_, size, rounds) => {
    const schema = server.newSchema();
    let at = 1;
    const [one, other] = [createPostgres({ pool, schema, now: () => at }), createPostgres({ pool, schema, now: () => at })];
    const bytes = new Uint8Array(size).fill(7);
    const digest = await one.blobs.put(bytes);
    for (let round = 0; round < rounds; round++) {
      const putUpTo = at++;
      await Promise.all([other.blobs.delete?.(digest, { putUpTo }), one.blobs.put(bytes), other.blobs.put(bytes)]);
      expect(Buffer.compare(await other.blobs.get(digest), bytes)).toBe(0);
    }
  });

  it("are there whole or not at all", async () => {
    const schema = server.newSchema();
    const [one, other] = [createPostgres({ pool, schema }), createPostgres({ pool, schema })];
    const bytes = new Uint8Array(1_500_000).fill(8);
    for (let round = 0; round < 10; round++) {
      const digest = await one.blobs.put(bytes);
      await Promise.all([other.blobs.delete?.(digest, { putUpTo: Number.MAX_SAFE_INTEGER }), one.blobs.put(bytes)]);
      const found = await one.blobs.get(digest).catch((error: unknown) => error);
      if (found instanceof Uint8Array) expect(Buffer.compare(found, bytes)).toBe(0);
      else expect(LogError.is(found, "not-found")).toBe(true);
      const rows = await pool.query(`SELECT count(*)::int AS n FROM ${schema}.blob_chunks`);
      expect(rows.rows).toEqual([{ n: found instanceof Uint8Array ? 2 : 0 }]);
    }
  });

  it("are given a time by a schema of the version before, as if they had been put long ago, and by its processes as they put them", async () => {
    const schema = server.newSchema();
    await openSchema(poolOverPg(pool), schema, "here", 1);
    await pool.query(`INSERT INTO ${schema}.blobs (digest, size) VALUES (sha256('old'), 0)`);
    const { blobs, ready } = createPostgres({ pool, schema });
    await ready();
    await pool.query(`INSERT INTO ${schema}.blobs (digest, size) VALUES (sha256('new'), 0)`);
    const { rows } = await pool.query<{ hex: string }>(
      "SELECT encode(sha256('old'), 'hex') AS hex UNION ALL SELECT encode(sha256('new'), 'hex')",
    );
    const gone = await Promise.all(
      rows.map(({ hex }) => blobs.delete?.(`sha256:${hex}` as Awaited<ReturnType<typeof blobs.put>>, { putUpTo: Date.now() - 3_600_000 })),
    );
    expect(gone).toEqual([true, false]);
  });
});
