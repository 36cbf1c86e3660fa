import type { LogId, LogRecord } from "@keelson/protocol";
import { type BudgetScope, LogError, usd } from "@keelson/protocol";
import { createPostgres, type PostgresStores } from "@keelson/postgres";
import { processOwner } from "keelson/state";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { sampleSize, seed } from "../../../test/tier.ts";
import { randomNumbers } from "../../runtime/test/processes/random-numbers.ts";
import { eventually } from "../../restate/test/support/eventually.ts";
import { type PostgresServer, startPostgresServer } from "./support/postgres-server.ts";
import { isWithoutServer, needsServer } from "./support/server-binaries.ts";
import { startProcess } from "./support/test-process.ts";
import { connectionStringOfVictims, victimsAreGone } from "./support/victims.ts";

const KILLS = sampleSize("kills of a process that appends to PostgreSQL", { test: 2, ci: 8, soak: 500 });
const RESTARTS = sampleSize("kills of a PostgreSQL server under writers", { test: 1, ci: 2, soak: 40 });
const LOG = "session/a" as LogId;
const note = (key: string, data = {}) => ({ key, type: "note", data });

describe.skipIf(isWithoutServer)(`what was written to PostgreSQL${needsServer}`, { timeout: 120_000 + KILLS * 5_000 }, () => {
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
  const newSchema = (): string => `lasting_${++schemas}`;
  const open = (schema: string, options: object = {}): PostgresStores => {
    const stores = createPostgres({ connectionString: server.connectionString(), schema, maxConnections: 3, ...options });
    opened.push(stores);
    return stores;
  };

  it("is there once, in the order of its writers, where several processes write to a schema that none of them has made", async () => {
    const schema = newSchema();
    const writers = ["w1", "w2", "w3"];
    const count = 15;
    const processes = writers.map((writer) => startProcess("append-to-inbox", server.connectionString(), schema, writer, count));
    expect(await Promise.all(processes.map(({ exit }) => exit))).toEqual(writers.map(() => 0));
    const records = await readAll(open(schema), "session/a/inbox");
    const expected = [...writers, "shared"].flatMap((writer) => Array.from({ length: count }, (_, n) => `${writer}-${n}`));
    expect(records.map(({ key }) => key).sort()).toEqual(expected.sort());
    expect(records.every(({ at }, index) => at >= (records[index - 1]?.at ?? 0))).toBe(true);
    for (const writer of writers) {
      const own = records.filter(({ key }) => key.startsWith(`${writer}-`)).map(({ data }) => data["n"]);
      expect(own, "in the order of their writer").toEqual(Array.from({ length: count }, (_, n) => n));
    }
  });

  it(`is all there, and nothing of it in part, when its process was killed (${KILLS} kills, seed ${seed})`, async () => {
    const random = randomNumbers(seed);
    const connectionString = await connectionStringOfVictims(server);
    let schema = newSchema();
    let stores = open(schema);
    let verified = 0;
    for (let life = 0; life < KILLS; life++) {
      // A new schema now and then, since each life reads all that the earlier ones wrote.
      if (life > 0 && life % 20 === 0) {
        schema = newSchema();
        stores = open(schema);
        verified = 0;
      }
      const { child, lines, exit } = startProcess("append-until-killed", connectionString, schema, life, seed + life);
      const printed: { readonly seq: number; readonly key: string }[] = [];
      const wanted = 1 + Math.floor(random() * 80);
      for await (const line of lines) {
        const [seq = "", key = ""] = line.split(" ");
        if (seq === "start") expect(Number(key), "starts where the log ends").toBe(verified);
        else printed.push({ seq: Number(seq), key });
        // Sent once, while the child goes on; whatever it prints until it dies counts as well.
        if (printed.length === wanted) child.kill("SIGKILL");
      }
      expect(await exit, `seed ${seed}, life ${life}`).toBe("SIGKILL");
      await victimsAreGone(server);
      const records = await readAll(stores, LOG);
      for (const { seq, key } of printed) expect(records[seq - 1]?.key, `seed ${seed}, life ${life}, seq ${seq}`).toBe(key);
      const whole = new Map<string, number>();
      for (const { key, data } of records) {
        const append = key.slice(0, key.lastIndexOf("/"));
        whole.set(append, (whole.get(append) ?? (data["of"] as number)) - 1);
      }
      expect(
        [...whole].filter(([, missing]) => missing !== 0),
        `seed ${seed}, life ${life}`,
      ).toEqual([]);
      verified = records.length;
      // The killed process holds the lease for another hour; it is known to be dead.
      if (life === KILLS - 1) await stores.log.acquire(LOG, { owner: processOwner(), ttlMs: 1000 });
    }
  });

  it(`is there after the server was killed, whose writers and readers go on as if nothing had been (${RESTARTS} kills)`, async () => {
    const schema = newSchema();
    // A busy machine may take long to start a server.
    const [writer, reader] = [open(schema, { retryForMs: 60_000 }), open(schema, { retryForMs: 60_000, pollMs: 3_600_000 })];
    const leaving = new AbortController();
    const followed: string[] = [];
    const following = (async () => {
      for await (const { key } of reader.log.read(LOG, { follow: true, signal: leaving.signal })) followed.push(key);
    })();
    const lease = await writer.log.acquire(LOG, { owner: "writer", ttlMs: 3_600_000 });
    let isOver = false;
    let head = 0;
    const writing = (async () => {
      while (!isOver) {
        const { seq } = await writer.log.append(LOG, head, [note(`k${head}`)], { epoch: lease.epoch });
        expect(seq).toBe(++head);
        await writer.ledger.reserve(`r${head}`, [{ id: "run", maxCost: usd("1000000") }], usd("1"));
        await writer.ledger.settle(`r${head}`, usd("1"));
      }
    })();
    // A writer that fails tells of it at once.
    const appends = (before: number): Promise<unknown> =>
      Promise.race([writing, eventually("some appends", async () => (head > before + 5 ? true : undefined), 90_000)]);
    for (let round = 0; round < RESTARTS; round++) {
      await appends(head);
      await server.kill();
      await server.start();
    }
    await appends(head);
    isOver = true;
    await writing;
    expect((await readAll(reader, LOG)).map(({ key }) => key)).toEqual(Array.from({ length: head }, (_, n) => `k${n}`));
    expect(await reader.ledger.spent("run")).toBe(String(head));
    await eventually("all records at the follower", async () => (followed.length === head ? true : undefined));
    leaving.abort();
    await following;
    expect(followed).toEqual(Array.from({ length: head }, (_, n) => `k${n}`));
  });

  it("is heard of by those who wait in other processes, without a look in between", async () => {
    const schema = newSchema();
    const [here, there] = [open(schema, { pollMs: 3_600_000 }), open(schema)];
    const reader = here.log.read(LOG, { follow: true })[Symbol.asyncIterator]();
    const first = reader.next();
    await there.log.append(LOG, 0, [note("a")]);
    expect((await first).value).toMatchObject({ key: "a" });
    const second = reader.next();
    // Its listening connection is lost, and had again.
    await server.admin`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query ILIKE 'listen%'`;
    await there.log.append(LOG, 1, [note("b")]);
    expect((await second).value).toMatchObject({ key: "b" });
    await reader.return?.(undefined);

    const run: BudgetScope = { id: "run", maxCost: usd("1") };
    await here.ledger.reserve("mine", [run], usd("1"));
    expect(await there.ledger.reserve("yours", [run], usd("1"), { inTurn: true })).toMatchObject({ type: "wait" });
    const turn = there.ledger.changed(["run"], { signal: AbortSignal.timeout(20_000), key: "yours" });
    await here.ledger.release("mine");
    await turn;
    expect(await there.ledger.reserve("yours", [run], usd("1"), { inTurn: true })).toEqual({ type: "reserved" });
  });

  it("is heard of by a look where words are lost", async () => {
    const schema = newSchema();
    let look = (): void => {};
    const here = open(schema, {
      poll: (tick: () => void) => {
        look = tick;
        return () => {};
      },
    });
    await here.log.append(LOG, 0, [note("a")]);
    const reader = here.log.read(LOG, { follow: true })[Symbol.asyncIterator]();
    await reader.next();
    const next = reader.next();
    const told = vi.fn<() => void>();
    void next.then(told);
    await eventually("a listener", async () =>
      (await server.admin`SELECT 1 FROM pg_stat_activity WHERE query ILIKE ${`listen%${schema}%`}`).length > 0 ? true : undefined,
    );
    // As by a process that died before it could say so.
    await server.admin.unsafe(
      `WITH l AS (UPDATE ${schema}.logs SET head = 2 RETURNING id) INSERT INTO ${schema}.records SELECT id, 2, 9e12, 'b', 'note', '{}' FROM l`,
    );
    expect(told).not.toHaveBeenCalled();
    look();
    expect((await next).value).toMatchObject({ key: "b" });
    await reader.return?.(undefined);
  });

  it("is held by leases that the clock of the database judges, whatever a process takes the time for", async () => {
    const { log } = open(newSchema());
    await log.acquire(LOG, { owner: "first", ttlMs: 60_000 });
    const clock = vi.spyOn(Date, "now").mockReturnValue(Date.now() + 86_400_000);
    try {
      const failure = await log.acquire(LOG, { owner: "second", ttlMs: 60_000 }).catch((error: unknown) => error);
      expect(LogError.is(failure, "lease-held")).toBe(true);
      expect((await log.append(LOG, "any", [note("a")])).at).toBeLessThan(Date.now() - 80_000_000);
    } finally {
      clock.mockRestore();
    }
  });
});

async function readAll({ log }: PostgresStores, id: string): Promise<LogRecord[]> {
  const records: LogRecord[] = [];
  for await (const record of log.read(id as LogId)) records.push(record);
  return records;
}
