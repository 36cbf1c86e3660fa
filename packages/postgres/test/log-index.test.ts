import { type EventLog, LogError, type LogId, type LogIndex } from "@keelson/protocol";
import { createPostgres, type PostgresStores } from "@keelson/postgres";
import { createAgent, createRunner } from "keelson";
import { scriptedModel } from "keelson/testing";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { poolOverPg } from "../src/connection/pg-pool.ts";
import { openSchema } from "../src/schema.ts";
import { eventually } from "../../restate/test/support/eventually.ts";
import { openSharedServer, type SharedServer } from "./support/shared-server.ts";
import { isWithoutServer, needsServer } from "./support/server-binaries.ts";

const LOG = "session/a" as LogId;
const note = (key: string, data = {}) => ({ key, type: "note", data });

describe.skipIf(isWithoutServer)(`the index of sessions in PostgreSQL${needsServer}`, { timeout: 60_000 }, () => {
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
  const open = (schema: string): PostgresStores => createPostgres({ pool: admin, schema });
  const indexedIn = async (schema: string): Promise<unknown> =>
    (
      await admin.query(
        `SELECT (SELECT count(*)::int FROM ${schema}.log_words) AS texts, (SELECT count(*)::int FROM ${schema}.unindexed) AS waiting`,
      )
    ).rows[0];

  /** A schema as the version before the index made it. */
  async function schemaOfBefore(): Promise<string> {
    const schema = server.newSchema();
    await openSchema(poolOverPg(admin), schema, "here", 2);
    return schema;
  }
  /** As processes of that version write. */
  const appendAsBefore = (schema: string, log: string, from: number, count: number) =>
    admin.query(
      `WITH l AS (
         INSERT INTO ${schema}.logs AS l (name, head, at, summary) VALUES ($1, $2, 1, NULL)
         ON CONFLICT (name) DO UPDATE SET head = l.head + $2, at = 1, summary = NULL RETURNING l.id, l.head)
       INSERT INTO ${schema}.records (log, seq, at, key, type, data)
       SELECT l.id, l.head - $2 + place, 1, 'k' || ($3 + place), 'note', '{}' FROM l, generate_series(1, $2::bigint) AS place`,
      [log, count, from],
    );

  it("gets the words of appends together: with a search, when the log is closed, or when there are enough of them", async () => {
    const schema = server.newSchema();
    const stores = open(schema);
    await appendTexts(stores.log, ["one word", "", "another word"]);
    expect(await indexedIn(schema)).toEqual({ texts: 0, waiting: 2 });
    expect(await found(stores.log.index, "word")).toEqual([1, 3]);
    expect(await indexedIn(schema)).toEqual({ texts: 2, waiting: 0 });
    await stores.log.append(LOG, 3, [note("last")], { texts: ["the last word"] });
    await stores.close();
    expect(await indexedIn(schema)).toEqual({ texts: 3, waiting: 0 });

    const second = server.newSchema();
    await using many = open(second);
    await appendTexts(
      many.log,
      Array.from({ length: 65 }, () => "word"),
    );
    await eventually("the words of most", async () => (((await indexedIn(second)) as { texts: number }).texts >= 64 ? true : undefined));
  });

  it("is told of what another process holds by whoever searches, and takes it once", async () => {
    const schema = server.newSchema();
    await using stores = open(schema);
    await using other = open(schema);
    await appendTexts(stores.log, ["harbour", "map of the harbour"]);
    expect(await found(other.log.index, "harbour")).toEqual([]);
    const [records, ...more] = await other.log.index.unindexed(10);
    expect([records, more]).toMatchObject([{ log: LOG, after: 0, upTo: 2 }, []]);
    if (records === undefined) return;
    const texts = [
      { seq: 1, text: "as they read it" },
      { seq: 2, text: "harbour as they read it" },
      { seq: 3, text: "harbour of nobody" },
    ];
    // Both at once, too: one of them does it.
    await Promise.all([other.log.index.add(records, texts), stores.log.index.add(records, texts)]);
    // What is held comes too late, and changes nothing.
    expect(await found(stores.log.index, "harbour")).toEqual([2]);
    expect(await indexedIn(schema)).toEqual({ texts: 2, waiting: 0 });
  });

  it("takes nothing of a log that was deleted meanwhile", async () => {
    const schema = server.newSchema();
    await using stores = open(schema);
    await using other = open(schema);
    await appendTexts(stores.log, ["gone"]);
    await other.log.delete(LOG);
    await other.log.append(LOG, 0, [note("new")], { texts: ["here"] });
    expect([await found(stores.log.index, "gone"), await found(other.log.index, "here")]).toEqual([[], [1]]);
    await Promise.all(["x", "y"].map((id) => other.log.append(`session/${id}` as LogId, 0, [note("a")], { texts: ["racing"] })));
    await Promise.all([found(other.log.index, "racing"), stores.log.delete("session/x" as LogId), stores.log.delete("session/y" as LogId)]);
    expect(await indexedIn(schema)).toEqual({ texts: 1, waiting: 0 });
  });

  it("hears of what a process of the version before appends, and forgets what one deletes", async () => {
    const schema = server.newSchema();
    await using stores = open(schema);
    await stores.ready();
    await appendAsBefore(schema, LOG, 0, 2);
    await appendTexts(stores.log, ["known"], 2);
    await appendAsBefore(schema, LOG, 3, 1);
    for (const log of ["session/a/inbox", "elsewhere", "session/"]) await appendAsBefore(schema, log, 0, 1);
    expect((await stores.log.index.unindexed(10)).map(({ log, after, upTo }) => [log, after, upTo])).toEqual([
      [LOG, 3, 4],
      [LOG, 0, 2],
    ]);
    expect(await found(stores.log.index, "known")).toEqual([3]);
    await admin.query(`DELETE FROM ${schema}.logs WHERE name = $1`, [LOG]);
    expect(await indexedIn(schema)).toEqual({ texts: 0, waiting: 0 });
  });

  it("finds out by itself what stood there before there was an index, for whoever might work with it then", async () => {
    const schema = await schemaOfBefore();
    await appendAsBefore(schema, LOG, 0, 20);
    await appendAsBefore(schema, "session/a/inbox", 0, 1);
    const role = `clerk_of_${schema}`;
    await admin.query(`CREATE ROLE ${role}; GRANT USAGE ON SCHEMA ${schema} TO ${role};
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${role}; GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${schema} TO ${role}`);
    {
      await using owner = open(schema);
      expect(await owner.log.index.unindexed(2)).toMatchObject([{ log: LOG, after: 8, upTo: 20 }]);
      expect(await owner.log.index.unindexed(10)).toMatchObject([{ log: LOG, after: 0, upTo: 20 }]);
    }
    const connections = new pg.Pool({ connectionString: server.connectionString, options: `-c role=${role}` });
    const stores = createPostgres({ pool: connections, schema });
    const [records] = await stores.log.index.unindexed(10);
    if (records !== undefined) await stores.log.index.add(records, [{ seq: 20, text: "found" }]);
    await appendTexts(stores.log, ["found again"], 20);
    expect(await found(stores.log.index, "found")).toEqual([20, 21]);
    await stores.log.delete(LOG);
    await stores.close();
    await connections.end();
    expect(await indexedIn(schema)).toEqual({ texts: 0, waiting: 0 });
  });

  it("keeps large texts, long words and queries of very many words from failing", async () => {
    await using stores = open(server.newSchema());
    const { index } = stores.log;
    const long = "\u{20000}".repeat(3000);
    const many = Array.from({ length: 100_000 }, (_, n) => `\u6f22${n.toString(36)}`).join(" ");
    await appendTexts(stores.log, [`${long} end`, many, "a".repeat(1_000_000)]);
    expect([await found(index, "end"), await found(index, long), await found(index, "\u6f220"), await found(index, "aaaa")]).toEqual([
      [1],
      [1],
      [2],
      [3],
    ]);
    expect([await found(index, many), await found(index, `${many} end`.slice(-1000))]).toEqual([[2], []]);
    expect(await found(index, `${"end ".repeat(100_000)}`)).toEqual([1]);
  });

  it("leaves what it could not add to whoever searches", async () => {
    const schema = server.newSchema();
    await using stores = open(schema);
    await appendTexts(stores.log, ["word"]);
    await admin.query(`ALTER TABLE ${schema}.log_words RENAME TO away`);
    const failure: unknown = await stores.log.index.search("word", { limit: 1 }).catch((error: unknown) => error);
    expect(LogError.is(failure)).toBe(true);
    await admin.query(`ALTER TABLE ${schema}.away RENAME TO log_words`);
    expect(await found(stores.log.index, "word")).toEqual([]);
    expect(await stores.log.index.unindexed(10)).toMatchObject([{ log: LOG, after: 0, upTo: 1 }]);
  });

  it("lets runners find what was said in any session, also by a process of the version before", async () => {
    const schema = server.newSchema();
    await using stores = open(schema);
    const runner = createRunner({
      agent: createAgent({ name: "clerk", model: scriptedModel(["The harbour map is in the drawer.", "Nothing here."]) }),
      log: stores.log,
      blobs: stores.blobs,
    });
    await runner.run("Where is the map?", { session: "first" }).outcome;
    await runner.run("And the boat?", { session: "second" }).outcome;
    await appendAsBefore(schema, "session/first", 1000, 1);
    const { hits, by, incomplete } = await runner.sessions.search("HARBOUR ma");
    expect([hits.map(({ session }) => session), by, incomplete]).toEqual([[], "index", undefined]);
    expect((await runner.sessions.search("HARBOUR map")).hits).toMatchObject([
      { session: "first", snippet: "The harbour map is in the drawer." },
    ]);
    expect((await runner.sessions.search("boat", { session: "first" })).hits).toEqual([]);
    expect(await indexedIn(schema)).toMatchObject({ waiting: 0 });
  });
});

/** One record with each append, as the holder of the lease. */
async function appendTexts(log: EventLog, texts: readonly string[], after = 0): Promise<void> {
  const { epoch } = await log.acquire(LOG, { owner: "me", ttlMs: 1_000_000 });
  for (const [index, text] of texts.entries())
    await log.append(LOG, after + index, [note(`key${after + index}`)], { epoch, texts: [text] });
}

const found = async (index: LogIndex, query: string): Promise<readonly number[]> =>
  (await index.search(query, { limit: 1000 })).map(({ seq }) => seq).toSorted((a, b) => a - b);
