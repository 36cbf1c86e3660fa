import { LogError, type LogId, type LogRecord } from "@keelson/protocol";
import { createPostgres, type PostgresStores } from "@keelson/postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sampleSize, seed } from "../../../test/tier.ts";
import { randomNumbers } from "../../runtime/test/processes/random-numbers.ts";
import { type PostgresServer, startPostgresServer } from "./support/postgres-server.ts";
import { isWithoutServer, needsServer } from "./support/server-binaries.ts";
import { startProcess } from "./support/test-process.ts";
import { connectionStringOfVictims, victimsAreGone } from "./support/victims.ts";

const KILLS = sampleSize("kills of processes that seal in PostgreSQL", { test: 2, ci: 6, soak: 60 });
const LOG = "session/a" as LogId;
const ALL = Number.MAX_SAFE_INTEGER;

async function fill({ log }: PostgresStores, count: number): Promise<void> {
  const record = (n: number) => ({ key: `k${n}`, type: "note", data: { text: `${n} `.repeat(50) } });
  for (let n = await log.head(LOG); n < count; n += 50)
    await log.append(
      LOG,
      n,
      Array.from({ length: 50 }, (_, index) => record(n + index)),
    );
}

/** What can be read, and the failure that ends it. */
async function readable({ log }: PostgresStores, after = 0): Promise<{ readonly records: readonly LogRecord[]; readonly error?: unknown }> {
  const records: LogRecord[] = [];
  try {
    for await (const record of log.read(LOG, { after })) records.push(record);
  } catch (error) {
    return { records, error };
  }
  return { records };
}

describe.skipIf(isWithoutServer)(`segments in PostgreSQL${needsServer}`, { timeout: 60_000 + KILLS * 10_000 }, () => {
  let server: PostgresServer;
  let schemas = 0;
  const opened: PostgresStores[] = [];
  beforeAll(async () => {
    server = await startPostgresServer();
  });
  afterAll(async () => {
    await Promise.all(opened.map((stores) => stores.close()));
    await server[Symbol.asyncDispose]();
  });
  const newSchema = (): string => `segments_${++schemas}`;
  const open = (schema: string): PostgresStores => {
    const stores = createPostgres({ connectionString: server.connectionString(), schema, maxConnections: 3 });
    opened.push(stores);
    return stores;
  };

  it("take the data of their records, whose rows keep the rest, and go with their log", async () => {
    const schema = newSchema();
    const stores = open(schema);
    await fill(stores, 1500);
    const before = await readable(stores);
    expect(await stores.log.seal(LOG, { before: ALL })).toMatchObject({ segments: 3, records: 1499 });
    const count = async (what: string): Promise<number> =>
      Number((await server.admin.unsafe(`SELECT count(*) AS n FROM ${schema}.${what}`))[0]?.["n"]);
    expect(await count("records WHERE data IS NULL")).toBe(1499);
    expect(await readable(open(schema))).toEqual(before);
    // A process that does not know of segments deletes no others.
    await server.admin.unsafe(`DELETE FROM ${schema}.logs`);
    expect(await count("segments")).toBe(0);
  });

  it("that are damaged are named with the records that can't be read, and those before are given", async () => {
    const schema = newSchema();
    const stores = open(schema);
    await fill(stores, 1500);
    const { records } = await readable(stores);
    await stores.log.seal(LOG, { before: ALL });
    await server.admin.unsafe(`UPDATE ${schema}.segments SET bytes = 'torn' WHERE first = 513`);
    const { records: given, error } = await readable(stores);
    expect(given).toEqual(records.slice(0, 512));
    expect(LogError.is(error, "corrupt") && [error.failure.seq, error.message]).toEqual([
      513,
      expect.stringMatching(/the segment that holds records 513 to 1024 .*What stands before it is intact/),
    ]);
    expect(await readable(stores, 1024)).toEqual({ records: records.slice(1024) });
    await expect(stores.log.append(LOG, "any", [{ key: "k600", type: "note", data: {} }])).rejects.toMatchObject({
      failure: { kind: "corrupt", seq: 513 },
    });
    await server.admin.unsafe(`DELETE FROM ${schema}.segments WHERE first = 513`);
    expect(await readable(stores)).toMatchObject({ records: given, error: { failure: { kind: "corrupt", seq: 513 } } });
    expect(await stores.log.append(LOG, "any", [{ key: "new", type: "note", data: {} }])).toMatchObject({ seq: 1501 });
  });

  it(`are whole, with each record once, when processes that seal and append are killed (${KILLS} kills, seed ${seed})`, async () => {
    const random = randomNumbers(seed);
    const connectionString = await connectionStringOfVictims(server);
    const schema = newSchema();
    const stores = open(schema);
    await stores.ready();
    const printed = new Map<number, string>();
    let sealed = 0;
    for (let life = 0; life < KILLS; life++) {
      const sealers = [1, 2].map(() => startProcess("seal-until-killed", connectionString, schema));
      // At work before anybody is killed: else only starts would be tried.
      for (const { lines } of sealers) await lines.next();
      const writer = startProcess("append-until-killed", connectionString, schema, life, seed + life);
      const victims = [writer, ...sealers];
      const outputs = sealers.map(async ({ lines }) => {
        for await (const line of lines) sealed += Number(line.split(" ")[1]);
      });
      let wanted = 60 + Math.floor(random() * 60);
      for await (const line of writer.lines) {
        const [seq = "", key = ""] = line.split(" ");
        if (seq !== "start") printed.set(Number(seq), key);
        // In whatever order, at whatever moment.
        if (--wanted <= 0) victims.splice(Math.floor(random() * victims.length), 1)[0]?.child.kill("SIGKILL");
      }
      for (const { child } of victims) child.kill("SIGKILL");
      await Promise.all([...outputs, writer.exit, ...sealers.map(({ exit }) => exit)]);
      await victimsAreGone(server);
      const { records, error } = await readable(stores);
      const where = `seed ${seed}, life ${life}`;
      expect(error, where).toBeUndefined();
      expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index + 1));
      expect(await stores.log.head(LOG), where).toBe(records.length);
      for (const [seq, key] of printed) expect(records[seq - 1]?.key, `${where}, seq ${seq}`).toBe(key);
    }
    expect(sealed).toBeGreaterThan(50);
  });
});
