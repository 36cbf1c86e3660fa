import { chownSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { LogError, type LogId } from "@keelson/protocol";
import { createPostgres, type PostgresOptions, type PostgresStores } from "@keelson/postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PostgresServer, startPostgresServer } from "./support/postgres-server.ts";
import { isWithoutServer, needsServer } from "./support/server-binaries.ts";
import { mountSmallDisk } from "./support/small-disk.ts";

const LOG = "session/a" as LogId;
const note = (key: string, data = {}) => ({ key, type: "note", data });

describe("options that can't work", () => {
  it.each<readonly [object, RegExp]>([
    [{}, /either a connectionString or a pool/],
    [{ connectionString: "postgres://x", pool: {} }, /either a connectionString or a pool/],
    [{ pool: {} }, /`Pool` of `pg` or a client of `postgres`/],
    [{ connectionString: "nonsense" }, /postgres:\/\/user:password@host/],
    [{ connectionString: "postgres://x", schema: "Mine" }, /schema must be a name of small letters/],
    [{ connectionString: "postgres://x", schema: 'a"b' }, /schema must be a name of small letters/],
    [{ connectionString: "postgres://x", shema: "a" }, /no option "shema"/],
  ])("are refused at once: %j", (options, message) => {
    expect(() => createPostgres(options as PostgresOptions)).toThrow(message);
  });
});

describe.skipIf(isWithoutServer)(`what goes wrong with PostgreSQL${needsServer}`, { timeout: 60_000 }, () => {
  let server: PostgresServer;
  const opened: PostgresStores[] = [];
  let schemas = 0;
  beforeAll(async () => {
    server = await startPostgresServer();
  });
  afterAll(async () => {
    await Promise.all(opened.map((stores) => stores.close().catch(() => {})));
    await server[Symbol.asyncDispose]();
  });
  const newSchema = (): string => `failing_${++schemas}`;
  const open = (options: Partial<PostgresOptions> = {}): PostgresStores => {
    const stores = createPostgres({
      connectionString: server.connectionString(),
      schema: newSchema(),
      maxConnections: 2,
      retryForMs: 300,
      ...options,
    });
    opened.push(stores);
    return stores;
  };

  it("tells of a server that is not there, and works once it is", async () => {
    const stores = open();
    await server.kill();
    const failure = await failureOf(stores.log.append(LOG, 0, [note("a")]));
    expect(failure).toMatchObject({
      kind: "unavailable",
      message: expect.stringMatching(/127\.0\.0\.1:\d+\/postgres could not be reached.*Look whether the server runs/),
    });
    expect(failure.message).not.toContain("postgres@");
    await server.start();
    expect(await stores.log.append(LOG, 0, [note("a")])).toMatchObject({ seq: 1 });
  });

  it("tells of a wrong password, a missing database and missing rights", async () => {
    await server.admin.unsafe("CREATE ROLE locked LOGIN PASSWORD 'right'; CREATE ROLE poor LOGIN");
    const rules = join(server.folder, "data/pg_hba.conf");
    const { uid, gid } = statSync(rules);
    writeFileSync(rules, `host all locked 127.0.0.1/32 scram-sha-256\n${readFileSync(rules, "utf8")}`);
    chownSync(rules, uid, gid);
    await server.admin`SELECT pg_reload_conf()`;
    const at = (user: string, database = "postgres") =>
      open({ connectionString: `postgres://${user}@127.0.0.1:${server.port}/${database}` });
    await eventuallyRefused(at("locked:wrong"));
    expect(await failureOf(at("locked:wrong").log.head(LOG))).toMatchObject({
      kind: "other",
      message: expect.stringMatching(/refused to let us in.*Check user and password/),
    });
    expect(await failureOf(at("postgres", "nowhere").blobs.put(new Uint8Array(1)))).toMatchObject({
      kind: "other",
      message: expect.stringMatching(/is not there.*Create the database/),
    });
    expect(await failureOf(at("poor").ledger.spent("run"))).toMatchObject({
      kind: "other",
      message: expect.stringMatching(/did not permit it.*Grant its user/),
    });
  });

  it("lets a user without the right to create anything work in a schema that is as it should be", async () => {
    const schema = newSchema();
    const owner = open({ schema });
    await owner.ready();
    await server.admin.unsafe(
      `CREATE ROLE worker LOGIN; GRANT USAGE ON SCHEMA ${schema} TO worker; GRANT ALL ON ALL TABLES IN SCHEMA ${schema} TO worker; GRANT ALL ON ALL SEQUENCES IN SCHEMA ${schema} TO worker`,
    );
    const worker = open({ schema, connectionString: server.connectionString("postgres", "worker") });
    const lease = await worker.log.acquire(LOG, { owner: "w", ttlMs: 1000 });
    expect(await worker.log.append(LOG, 0, [note("a")], { epoch: lease.epoch })).toMatchObject({ seq: 1 });
    expect(await worker.ledger.reserve("k", [{ id: "run" }], { turns: 1 })).toEqual({ type: "reserved" });
  });

  it("leaves a schema alone that is newer than it, or not its own, and stands beside the tables of others", async () => {
    const schema = newSchema();
    await open({ schema }).log.append(LOG, 0, [note("a")]);
    const [meta] = await server.admin.unsafe(`SELECT version FROM ${schema}.meta`);
    await server.admin.unsafe(`UPDATE ${schema}.meta SET version = 99`);
    expect(await failureOf(open({ schema }).log.append(LOG, 1, [note("b")]))).toMatchObject({
      kind: "invalid-input",
      message: expect.stringMatching(/has version 99; this version of Keelson knows versions up to \d+\. Update @keelson\/postgres/),
    });
    await server.admin.unsafe(`UPDATE ${schema}.meta SET version = ${String(meta?.["version"])}`);
    expect(await open({ schema }).log.head(LOG)).toBe(1);

    const foreign = newSchema();
    await server.admin.unsafe(`CREATE SCHEMA ${foreign}; CREATE TABLE ${foreign}.logs (line text)`);
    expect(await failureOf(open({ schema: foreign }).log.head(LOG))).toMatchObject({
      kind: "invalid-input",
      message: expect.stringMatching(/tables of another program/),
    });
    await server.admin.unsafe(`CREATE TABLE ${foreign}.meta (version int)`);
    expect(await failureOf(open({ schema: foreign }).log.head(LOG))).toMatchObject({
      kind: "invalid-input",
      message: expect.stringMatching(/"meta" of another program/),
    });
    expect(
      (await server.admin.unsafe(`SELECT table_name FROM information_schema.tables WHERE table_schema = '${foreign}' ORDER BY 1`)).map(
        (row) => row["table_name"] as string,
      ),
    ).toEqual(["logs", "meta"]);
    await server.admin.unsafe("CREATE TABLE public.logs (line text)");
    await open().log.append(LOG, 0, [note("a")]);
  });

  it("makes a schema once, however many begin at the same time", async () => {
    const schema = newSchema();
    const all = Array.from({ length: 8 }, () => open({ schema }));
    await Promise.all(all.map((stores) => stores.ready()));
    expect(new Set(all.map(({ ledger }) => ledger.id)).size).toBe(1);
  });

  it("refuses a database that can't hold every character", async () => {
    await server.admin.unsafe("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0");
    expect(await failureOf(open({ connectionString: server.connectionString("latin") }).ready())).toMatchObject({
      kind: "invalid-input",
      message: expect.stringMatching(/encoding LATIN1.*UTF8/),
    });
  });

  it("reads what stands before damage, and says where that begins", async () => {
    const schema = newSchema();
    const { log, blobs } = open({ schema });
    await log.append(
      LOG,
      0,
      ["a", "b", "c"].map((key) => note(key)),
    );
    await server.admin.unsafe(`DELETE FROM ${schema}.records WHERE seq = 2`);
    const keys: string[] = [];
    const failure = await failureOf(
      (async () => {
        for await (const { key } of log.read(LOG)) keys.push(key);
      })(),
    );
    expect(keys).toEqual(["a"]);
    expect(failure).toMatchObject({
      kind: "corrupt",
      seq: 2,
      message: expect.stringMatching(/record 2 is missing.*Restore the database from a backup/),
    });
    await server.admin.unsafe(`UPDATE ${schema}.records SET data = '{"half' WHERE seq = 1`);
    expect(await failureOf(log.read(LOG)[Symbol.asyncIterator]().next())).toMatchObject({ kind: "corrupt", seq: 1 });

    const digest = await blobs.put(new Uint8Array(2_500_000).fill(7));
    await server.admin.unsafe(`UPDATE ${schema}.blob_chunks SET bytes = set_byte(bytes, 5, 8) WHERE number = 1`);
    expect(await failureOf(blobs.get(digest))).toMatchObject({ kind: "corrupt" });
    expect(await failureOf(blobs.get(digest, { start: 1_100_000, end: 1_100_001 }))).toMatchObject({ kind: "corrupt" });
    // The rows beside it are whole.
    expect(await blobs.get(digest, { start: 0, end: 2 })).toEqual(Uint8Array.of(7, 7));
    await server.admin.unsafe(`DELETE FROM ${schema}.blob_chunks WHERE number = 2`);
    expect(await failureOf(blobs.get(digest, { start: 2_200_000 }))).toMatchObject({ kind: "corrupt" });
  });

  it.skipIf(userInfo().uid !== 0)("keeps what it had when its disk is full, and goes on when there is space again (as root)", async () => {
    using disk = mountSmallDisk(24);
    await using small = await startPostgresServer();
    await small.admin.unsafe(`CREATE TABLESPACE small LOCATION '${disk.folder}'`);
    await small.admin.unsafe("CREATE DATABASE full_disk TABLESPACE small");
    await using stores = open({ connectionString: small.connectionString("full_disk") });
    const { log } = stores;
    let head = 0;
    let failure: LogError | undefined;
    while (failure === undefined) {
      // What can't be pressed together.
      const text = Array.from({ length: 40_000 }, () => Math.random().toString(36)).join("");
      await log.append(LOG, head, [note(`k${head}`, { text })]).then(
        () => head++,
        (error: LogError) => (failure = error),
      );
      expect(head).toBeLessThan(60);
    }
    // A server may also end where it can't write.
    if (failure.failure.kind !== "unavailable")
      expect(failure.failure).toMatchObject({
        kind: "full",
        message: expect.stringMatching(/no space left.*Nothing of this call was kept\. Free space/),
      });
    disk.grow(64);
    await small.start();
    const keys = async (): Promise<readonly string[]> => {
      const found: string[] = [];
      for await (const { key } of log.read(LOG)) found.push(key);
      return found;
    };
    const kept = Array.from({ length: head }, (_, n) => `k${n}`);
    // Of one that broke off, only the server knows whether it was kept.
    const isUnsure = failure.failure.kind === "unavailable" && (await log.head(LOG)) > head;
    expect(await keys()).toEqual(isUnsure ? [...kept, `k${head}`] : kept);
    expect(await log.append(LOG, await log.head(LOG), [note("after")])).toMatchObject({ seq: (await keys()).length });
    expect((await keys()).at(-1)).toBe("after");
  });
});

/** The server takes a moment to read its rules. */
async function eventuallyRefused(stores: PostgresStores): Promise<void> {
  await stores.log.head(LOG).catch(() => {});
}

async function failureOf(action: Promise<unknown>): Promise<LogError["failure"] & { readonly message: string }> {
  const error = await action.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!LogError.is(error)) throw new Error(`A LogError was expected, not ${String(error)}.`);
  return (error as LogError).failure;
}
