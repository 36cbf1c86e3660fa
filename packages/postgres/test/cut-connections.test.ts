import { type BudgetScope, type LogId, LogError, usd } from "@keelson/protocol";
import { createPostgres, type PostgresStores } from "@keelson/postgres";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seed, tier } from "../../../test/tier.ts";
import { eventually } from "../../restate/test/support/eventually.ts";
import { type FaultyProxy, openFaultyProxy } from "./support/faulty-proxy.ts";
import { type PostgresServer, startPostgresServer } from "./support/postgres-server.ts";
import { isWithoutServer, needsServer } from "./support/server-binaries.ts";

const LOG = "session/a" as LogId;
const RUN: BudgetScope = { id: "run", maxCost: usd("1000") };
const IDLE_TIMEOUT = "terminating connection due to idle-in-transaction timeout";
const note = (key: string) => ({ key, type: "note", data: { of: key } });

describe.skipIf(isWithoutServer)(`connections that are cut at any piece of data${needsServer}`, { timeout: 60_000 }, () => {
  let server: PostgresServer;
  let proxy: FaultyProxy;
  let schemas = 0;
  beforeAll(async () => {
    server = await startPostgresServer();
    proxy = await openFaultyProxy(server.port);
  });
  afterAll(async () => {
    await proxy[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  const address = (): string => `postgres://postgres@127.0.0.1:${proxy.port}/postgres`;
  const drivers: { readonly [name: string]: (schema: string) => { readonly stores: PostgresStores; end(): Promise<unknown> } } = {
    pg(schema) {
      const stores = createPostgres({ connectionString: address(), schema, maxConnections: 1 });
      return { stores, end: () => stores.close() };
    },
    postgres(schema) {
      const client = postgres(address(), { max: 1, onnotice: () => {}, backoff: () => 0.02 });
      const stores = createPostgres({ pool: client, schema });
      return { stores, end: () => stores.close().then(() => client.end({ timeout: 1 })) };
    },
  };

  for (const [driver, open] of Object.entries(drivers)) {
    /** Of some hundred pieces, every so many-th, another one each day; each of them in the soak. */
    const oneIn = (pieces: number): number => (tier === "soak" ? 1 : pieces);
    const first = (step: number): number => 1 + (seed % step);

    /** Does something again and again, while each time a later piece of it is lost; each time it must come to what it should. */
    const atEachPiece = async (schema: string, act: (stores: PostgresStores, n: number) => Promise<void>, step = 1): Promise<number> => {
      const { stores, end } = open(schema);
      try {
        await stores.ready();
        for (let n = first(step); ; n += step) {
          proxy.failAt(n);
          await act(stores, n);
          if (!proxy.hasFailed()) return n - 1;
        }
      } finally {
        proxy.failAt(0);
        await end();
      }
    };
    const newSchema = (): string => `cut_${++schemas}`;

    it(`append each record once, through ${driver}`, async () => {
      let head = 0;
      const cuts = await atEachPiece(newSchema(), async ({ log }, n) => {
        expect(await log.append(LOG, head, [note(`${n}/a`), note(`${n}/b`)])).toMatchObject({ seq: (head += 2) });
      });
      expect(cuts).toBeGreaterThanOrEqual(2);
    });

    it(`append each record to an inbox once, through ${driver}`, async () => {
      const schema = newSchema();
      const keys: string[] = [];
      const cuts = await atEachPiece(schema, async ({ log }, n) => {
        keys.push(`${n}/a`, `${n}/b`);
        expect(await log.append(LOG, "any", [note(`${n}/a`), note(`${n}/b`)], { durability: "power" })).toMatchObject({ seq: keys.length });
      });
      expect(cuts).toBeGreaterThanOrEqual(2);
      const rows = await server.admin.unsafe(`SELECT key FROM ${schema}.records ORDER BY seq`);
      expect(rows.map(({ key }) => key as string)).toEqual(keys);
    });

    it(`take, renew and give back one lease, which nobody had before, through ${driver}`, async () => {
      await atEachPiece(
        newSchema(),
        async ({ log }, n) => {
          const lease = await log.acquire(`session/${n}` as LogId, { owner: "me", ttlMs: 60_000 });
          expect(lease.tookOver).toBe(false);
          await lease.renew();
          await log.append(lease.log, 0, [note("a")], { epoch: lease.epoch });
          await lease.release();
          const failure = await log.append(lease.log, 1, [note("b")], { epoch: lease.epoch }).catch((error: unknown) => error);
          expect(LogError.is(failure, "stale-epoch")).toBe(true);
        },
        oneIn(driver === "pg" ? 2 : 3),
      );
    });

    it(`seal all records of a log, or leave them as they are, through ${driver}`, async () => {
      const keys = Array.from({ length: 40 }, (_, n) => `k${n}`);
      const schema = newSchema();
      const act = async ({ log }: PostgresStores, n: number): Promise<void> => {
        const id = `session/${n}` as LogId;
        await log.append(id, 0, keys.map(note));
        await log.seal(id, { before: 100 });
        const read: string[] = [];
        for await (const { key, data } of log.read(id)) if (data["of"] === key) read.push(key);
        expect(read).toEqual(keys);
      };
      const cuts = await atEachPiece(schema, act, oneIn(driver === "pg" ? 3 : 5));
      expect(cuts).toBeGreaterThanOrEqual(6);
      // Whatever was cut off, each was sealed in the end.
      expect(await server.admin.unsafe(`SELECT DISTINCT first, last FROM ${schema}.segments`)).toMatchObject([{ first: "1", last: "39" }]);
      expect(await server.admin.unsafe(`SELECT log FROM ${schema}.records WHERE (data IS NULL) <> (seq < 40)`)).toHaveLength(0);
    });

    it(`reserve, settle and release once, through ${driver}`, async () => {
      const schema = newSchema();
      let rounds = 0;
      const act = async ({ ledger }: PostgresStores, n: number): Promise<void> => {
        expect(await ledger.reserve(`s${n}`, [RUN], usd("1"))).toEqual({ type: "reserved" });
        await ledger.settle(`s${n}`, usd("0.5"));
        expect(await ledger.reserve(`r${n}`, [RUN], usd("1"))).toEqual({ type: "reserved" });
        await ledger.release(`r${n}`);
        expect(await ledger.spent("run")).toBe(String(++rounds / 2));
      };
      const cuts = await atEachPiece(schema, act, oneIn(driver === "pg" ? 7 : 17));
      expect(cuts).toBeGreaterThan(10);
      const [scope] = await server.admin.unsafe(`SELECT open FROM ${schema}.budget_scopes WHERE name = 'run'`);
      expect(Number(scope?.["open"])).toBe(0);
    });

    it(`keep a blob of several rows whole, through ${driver}`, async () => {
      // Each piece is some 64 KiB.
      const step = oneIn(driver === "pg" ? 17 : 59);
      const schema = newSchema();
      const { stores, end } = open(schema);
      try {
        for (let n = first(step); ; n += step) {
          const bytes = new Uint8Array(1_500_000).fill(n);
          bytes[0] = n >> 8;
          proxy.failAt(n);
          const digest = await stores.blobs.put(bytes);
          expect(Buffer.compare(await stores.blobs.get(digest), bytes)).toBe(0);
          if (!proxy.hasFailed()) break;
        }
      } finally {
        proxy.failAt(0);
        await end();
      }
    });
  }

  it("let others go on where a process stands still between two statements of a transaction", async () => {
    const schema = `cut_${++schemas}`;
    const other = createPostgres({ connectionString: server.connectionString(), schema });
    const still = createPostgres({ connectionString: address(), schema, maxConnections: 1, retryForMs: 60_000 });
    await still.ready();
    expect(await other.ledger.reserve("first", [RUN], usd("1"))).toEqual({ type: "reserved" });
    const timeouts = server.said().split(IDLE_TIMEOUT).length;
    const isRolledBack = (): boolean => server.said().split(IDLE_TIMEOUT).length > timeouts;
    // It has asked for the row, and never hears that it has it.
    proxy.stallAfter("ORDER BY name FOR UPDATE");
    const settling = still.ledger.settle("first", usd("1"));
    await eventually("a transaction that stands still with the row in its hands", async () => {
      const rows = await server.admin.unsafe(
        `SELECT 1 FROM pg_locks JOIN pg_stat_activity a USING (pid)
         WHERE a.state = 'idle in transaction' AND relation = '${schema}.budget_scopes'::regclass AND mode = 'RowShareLock'`,
      );
      // Where looking took so long, it was rolled back meanwhile.
      return rows.length > 0 || isRolledBack() ? true : undefined;
    });
    expect(await other.ledger.reserve("second", [RUN], usd("1"))).toEqual({ type: "reserved" });
    expect(isRolledBack()).toBe(true);
    await settling;
    expect(await other.ledger.spent("run")).toBe("1");
    await Promise.all([other, still].map((stores) => stores.close()));
  });
});
