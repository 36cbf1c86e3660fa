import { type EventLog, LogError, type LogId, type LogRecord, type NewRecord } from "@keelson/protocol";
import { describe, expect, it } from "vitest";

/** Creates an empty log whose times come from `now`. */
export type CreateEventLog = (now: () => number) => EventLog | Promise<EventLog>;

const LOG = "session/one" as LogId;
const OTHER = "session/two" as LogId;
const record = (key: string, data: NewRecord["data"] = { key }): NewRecord => ({ key, type: "note", data });

/** The tests that every `EventLog` must pass. */
export function describeEventLog(name: string, create: CreateEventLog): void {
  describe(`${name} keeps the EventLog contract`, () => {
    describe("appending", () => {
      it("reads back what it was given, in order, with seq from 1 and the time of the append", async () => {
        await using log = await create(() => 1000);
        expect(await log.append(LOG, 0, [record("a", { n: 1 }), record("b", { n: [null, "x", { y: true }] })])).toBe(2);
        expect(await log.append(LOG, 2, [record("c", {})])).toBe(3);
        expect(await all(log.read(LOG))).toStrictEqual([
          { seq: 1, at: 1000, key: "a", type: "note", data: { n: 1 } },
          { seq: 2, at: 1000, key: "b", type: "note", data: { n: [null, "x", { y: true }] } },
          { seq: 3, at: 1000, key: "c", type: "note", data: {} },
        ]);
        expect(await log.head(LOG)).toBe(3);
        expect(await log.head(OTHER)).toBe(0);
      });

      it("tells the writer the time of the records that this append put there, and of no others", async () => {
        let clock = 1000;
        await using log = await create(() => clock);
        const told: number[] = [];
        const onAppended = (at: number): number => told.push(at);
        await log.append(LOG, 0, [record("a"), record("b")], { onAppended });
        clock = 500;
        await log.append(LOG, 2, [record("c")], { onAppended });
        clock = 2000;
        await log.append(LOG, "any", [record("d")], { onAppended });
        expect(told).toEqual([1000, 1000, 2000]);
        await log.append(LOG, 0, [record("a"), record("b")], { onAppended });
        await log.append(LOG, "any", [record("d")], { onAppended });
        await log.append(LOG, "any", [record("a"), record("e")], { onAppended });
        await log.append(LOG, 5, [], { onAppended });
        await failureOf(log.append(LOG, 4, [record("x")], { onAppended }));
        expect(told).toHaveLength(3);
      });

      it("rejects a writer that does not know the last record, tells it where the log is, and keeps nothing", async () => {
        await using log = await create(Date.now);
        await log.append(LOG, 0, [record("a"), record("b")]);
        for (const expectedSeq of [0, 1, 3]) {
          const failure = await failureOf(log.append(LOG, expectedSeq, [record("x"), record("y")]));
          expect(failure).toMatchObject({ kind: "conflict", log: LOG, expectedSeq, actualSeq: 2 });
        }
        expect(await failureOf(log.append(OTHER, 1, [record("a")]))).toMatchObject({ kind: "conflict", expectedSeq: 1, actualSeq: 0 });
        expect(await keys(log, LOG)).toEqual(["a", "b"]);
      });

      it("lets exactly one of many writers from the same seq win", async () => {
        await using log = await create(Date.now);
        const results = await Promise.allSettled(Array.from({ length: 8 }, (_, n) => log.append(LOG, 0, [record(`writer-${n}`)])));
        expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(1);
        expect(await log.head(LOG)).toBe(1);
      });

      it("takes appends in the order of their calls, without waiting between them", async () => {
        await using log = await create(Date.now);
        const seqs = await Promise.all(
          Array.from({ length: 20 }, (_, n) => log.append(LOG, n, [record(`k${n}`)], { durability: n % 3 === 0 ? "power" : "process" })),
        );
        expect(seqs).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
      });

      it("recognises an append whose acknowledgement was lost, also when others have appended since", async () => {
        await using log = await create(Date.now);
        await log.append(LOG, 0, [record("a"), record("b")]);
        expect(await log.append(LOG, 0, [record("a"), record("b")], { durability: "power" })).toBe(2);
        await log.append(LOG, 2, [record("c")]);
        expect(await log.append(LOG, 0, [record("a"), record("b")])).toBe(2);
        expect(await log.append(LOG, 1, [record("b"), record("c")])).toBe(3);
        expect(await failureOf(log.append(LOG, 1, [record("b"), record("c"), record("d")]))).toMatchObject({ kind: "conflict" });
        expect(await failureOf(log.append(LOG, 0, [record("b"), record("a")]))).toMatchObject({ kind: "conflict" });
        expect(await keys(log, LOG)).toEqual(["a", "b", "c"]);
      });

      it("refuses a key that stands at another place of the log, with all that came with it", async () => {
        await using log = await create(Date.now);
        await log.append(LOG, 0, [record("a")]);
        expect(await failureOf(log.append(LOG, 1, [record("b"), record("a")]))).toMatchObject({ kind: "conflict", actualSeq: 1 });
        expect(await keys(log, LOG)).toEqual(["a"]);
        expect(await log.append(OTHER, 0, [record("a")])).toBe(1);
        expect(await log.append(LOG, 1, [record("b")])).toBe(2);
      });

      it("checks and changes nothing when there are no records", async () => {
        await using log = await create(Date.now);
        expect(await log.append(LOG, 0, [])).toBe(0);
        await log.append(LOG, 0, [record("a")]);
        expect(await log.append(LOG, 1, [])).toBe(1);
        expect(await log.append(LOG, "any", [])).toBe(1);
        expect(await failureOf(log.append(LOG, 0, []))).toMatchObject({ kind: "conflict", actualSeq: 1 });
        expect(await keys(log, LOG)).toEqual(["a"]);
      });

      it("keeps its records whatever callers and readers do with their objects", async () => {
        await using log = await create(Date.now);
        const data = { list: [1] };
        await log.append(LOG, 0, [{ key: "a", type: "note", data }]);
        data.list.push(2);
        const [first] = await all(log.read(LOG));
        (first?.data["list"] as number[]).push(3);
        expect((await all(log.read(LOG)))[0]?.data).toStrictEqual({ list: [1] });
      });

      it("never lets time run backwards within a log", async () => {
        let clock = 5000;
        await using log = await create(() => clock);
        await log.append(LOG, 0, [record("a")]);
        clock = 10;
        await log.append(LOG, 1, [record("b")]);
        await log.append(LOG, "any", [record("c")]);
        clock = 6000;
        await log.append(LOG, 3, [record("d")]);
        clock = 20;
        await log.append(OTHER, 0, [record("a")]);
        expect((await all(log.read(LOG))).map(({ at }) => at)).toEqual([5000, 5000, 5000, 6000]);
        expect((await all(log.read(OTHER))).map(({ at }) => at)).toEqual([20]);
      });

      it("keeps odd strings and a record of several MiB as they are", async () => {
        await using log = await create(Date.now);
        const odd = "\u0000 \ud83d\ude00 \u2028 \"\\' __proto__";
        const data = JSON.parse(`{"__proto__": 1, "lone": "\\ud800", "nul": "a\\u0000b"}`) as NewRecord["data"];
        const large = { text: "é€😀x".repeat(700_000) };
        await log.append(odd as LogId, 0, [
          { key: odd, type: odd, data },
          { key: "__proto__", type: "constructor", data: large },
        ]);
        const records = await all(log.read(odd as LogId));
        expect(records.map(({ key, type }) => [key, type])).toEqual([
          [odd, odd],
          ["__proto__", "constructor"],
        ]);
        expect(JSON.stringify(records[0]?.data)).toBe(JSON.stringify(data));
        expect(records[1]?.data["text"] === large.text).toBe(true);
        expect(await log.append(odd as LogId, 0, [{ key: odd, type: odd, data }])).toBe(1);
      });

      it("refuses what is no record before anything is kept", async () => {
        await using log = await create(Date.now);
        const cyclic: Record<string, unknown> = {};
        cyclic["self"] = cyclic;
        const bad: NewRecord[] = [
          { key: "", type: "note", data: {} },
          { key: "lone \ud800", type: "note", data: {} },
          { key: "x", type: "", data: {} },
          { key: "x", type: "note", data: undefined as never },
          { key: "x", type: "note", data: [] as never },
          { key: "x", type: "note", data: cyclic as never },
          { key: "x", type: "note", data: { big: 1n } as never },
        ];
        for (const one of bad)
          expect(await failureOf(log.append(LOG, 0, [record("good"), one])), JSON.stringify(one.key)).toMatchObject({
            kind: "invalid-input",
          });
        expect(await failureOf(log.append(LOG, 0, [record("twice"), record("twice")]))).toMatchObject({ kind: "invalid-input" });
        expect(await failureOf(log.append("" as LogId, 0, [record("a")]))).toMatchObject({ kind: "invalid-input" });
        for (const seq of [-1, 0.5, Number.NaN])
          expect(await failureOf(log.append(LOG, seq, [record("a")]))).toMatchObject({ kind: "invalid-input" });
        expect(await log.head(LOG)).toBe(0);
      });
    });

    describe("an inbox", () => {
      it("gives every writer a place of its own", async () => {
        await using log = await create(Date.now);
        const seqs = await Promise.all(Array.from({ length: 50 }, (_, n) => log.append(LOG, "any", [record(`k${n}`)])));
        expect([...seqs].sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, n) => n + 1));
        const records = await all(log.read(LOG));
        for (const [n, seq] of seqs.entries()) expect(records[seq - 1]?.key).toBe(`k${n}`);
      });

      it("leaves a key where it stands when it says the same again, in whatever order its members are written", async () => {
        await using log = await create(Date.now);
        await log.append(LOG, "any", [record("a", { x: 1, y: { p: [1, 2], q: null } })]);
        await log.append(LOG, "any", [record("b")]);
        expect(await log.append(LOG, "any", [record("a", { y: { q: null, p: [1, 2] }, x: 1 })], { durability: "power" })).toBe(1);
        expect(await log.append(LOG, "any", [record("a", { x: 1, y: { p: [1, 2], q: null } }), record("c")])).toBe(3);
        expect(await log.append(LOG, "any", [record("d"), record("b")])).toBe(2);
        expect(await keys(log, LOG)).toEqual(["a", "b", "c", "d"]);
      });

      it("refuses a key that is taken by something else, and what came with it", async () => {
        await using log = await create(Date.now);
        await log.append(LOG, "any", [record("nonce", { decision: "allow", of: [1, 2] })]);
        const others: NewRecord[] = [
          record("nonce", { decision: "deny", of: [1, 2] }),
          record("nonce", { decision: "allow", of: [2, 1] }),
          record("nonce", { decision: "allow" }),
          record("nonce", { decision: "allow", of: { 0: 1, 1: 2 } }),
          record("nonce", { decision: "allow", of: [1, 2], more: null }),
          { ...record("nonce", { decision: "allow", of: [1, 2] }), type: "other" },
        ];
        for (const other of others) {
          expect(await failureOf(log.append(LOG, "any", [record("new"), other])), JSON.stringify(other)).toMatchObject({
            kind: "conflict",
            expectedSeq: "any",
            actualSeq: 1,
          });
        }
        expect(await keys(log, LOG)).toEqual(["nonce"]);
      });
    });

    describe("reading", () => {
      it("reads long logs whole, and from any place on", async () => {
        await using log = await create(Date.now);
        const count = 1500;
        for (let seq = 0; seq < count; seq += 100)
          await log.append(
            LOG,
            seq,
            Array.from({ length: 100 }, (_, n) => record(`k${seq + n}`)),
          );
        for (const after of [0, 1, 255, 256, 1000, count - 1, count, count + 5]) {
          const seqs = (await all(log.read(LOG, { after }))).map(({ seq }) => seq);
          expect(seqs).toEqual(Array.from({ length: Math.max(0, count - after) }, (_, n) => after + n + 1));
        }
        expect(await all(log.read("session/none" as LogId))).toEqual([]);
        expect(await failureOf(all(log.read(LOG, { after: -1 })))).toMatchObject({ kind: "invalid-input" });
      });

      it("follows: every reader gets each record once, in order, also of a log that comes later", async () => {
        await using log = await create(Date.now);
        const stop = new AbortController();
        const readers = [0, 0, 2].map((after) => keysOf(log.read(LOG, { after, follow: true, signal: stop.signal })));
        const last = nthKey(log.read(LOG, { follow: true }), 6);
        await log.append(LOG, 0, [record("a"), record("b"), record("c")]);
        await log.append(LOG, "any", [record("d")]);
        await log.append(OTHER, "any", [record("elsewhere")]);
        await log.append(LOG, 4, [record("e"), record("f")]);
        expect(await last).toBe("f");
        stop.abort();
        expect(await Promise.all(readers)).toEqual([
          ["a", "b", "c", "d", "e", "f"],
          ["a", "b", "c", "d", "e", "f"],
          ["c", "d", "e", "f"],
        ]);
      });

      it("serves several waiting calls of one reader in order", async () => {
        await using log = await create(Date.now);
        const reader = log.read(LOG, { follow: true })[Symbol.asyncIterator]();
        const calls = [reader.next(), reader.next(), reader.next()];
        await log.append(LOG, 0, [record("a"), record("b"), record("c")]);
        expect((await Promise.all(calls)).map(({ value }) => (value as LogRecord).key)).toEqual(["a", "b", "c"]);
        await reader.return?.();
      });

      it("lets a reader leave while it waits", async () => {
        await using log = await create(Date.now);
        const reader = log.read(LOG, { follow: true })[Symbol.asyncIterator]();
        const waiting = reader.next();
        await reader.return?.();
        expect(await waiting).toMatchObject({ done: true });
        await log.append(LOG, 0, [record("a")]);
        expect(await reader.next()).toMatchObject({ done: true });
      });

      it("ends a follower whose signal fires, and never passes a part for the whole", async () => {
        await using log = await create(Date.now);
        await log.append(LOG, 0, [record("a"), record("b")]);
        const aborted = AbortSignal.abort(new Error("enough"));
        expect(await all(log.read(LOG, { follow: true, signal: aborted }))).toEqual([]);
        await expect(all(log.read(LOG, { signal: aborted }))).rejects.toThrow("enough");
      });

      it("tells readers of a deleted log, and starts anew under its id", async () => {
        await using log = await create(Date.now);
        await log.append(LOG, 0, [record("a"), record("b")]);
        await log.append(OTHER, 0, [record("a")]);
        const reader = log.read(LOG, { follow: true })[Symbol.asyncIterator]();
        await reader.next();
        await reader.next();
        const waiting = reader.next();
        await log.delete(LOG);
        expect(await failureOf(waiting)).toMatchObject({ kind: "not-found", log: LOG });
        expect(await reader.next()).toMatchObject({ done: true });
        await log.delete(LOG);
        expect(await log.head(LOG)).toBe(0);
        expect(await log.head(OTHER)).toBe(1);
        expect(await log.append(LOG, 0, [record("b")])).toBe(1);
      });

      it("lists logs with records in ascending order, by prefix and page by page", async () => {
        let clock = 0;
        await using log = await create(() => ++clock);
        const ids = ["a", "a/", "a/1", "a/10", "a/2", "a0", "b", "\ue000", "\u{1f600}"];
        for (const id of [...ids].reverse()) await log.append(id as LogId, 0, [record("k")]);
        await log.append("b" as LogId, 1, [record("l")]);
        await log.acquire("a/lease-only" as LogId, { owner: "me", ttlMs: 1000 });
        const idsOf = async (options?: Parameters<EventLog["list"]>[0]): Promise<readonly string[]> =>
          (await log.list(options)).map((info) => info.log);
        expect(await idsOf()).toEqual(ids);
        expect(await idsOf({ prefix: "a/" })).toEqual(["a/", "a/1", "a/10", "a/2"]);
        expect(await idsOf({ prefix: "a/", after: "a/1", limit: 1 })).toEqual(["a/10"]);
        expect(await idsOf({ prefix: "b", after: "a" })).toEqual(["b"]);
        expect(await idsOf({ prefix: "a", after: "b" })).toEqual([]);
        expect(await idsOf({ limit: 0 })).toEqual([]);
        expect(await idsOf({ prefix: "none" })).toEqual([]);
        const paged: string[] = [];
        for (let page = await idsOf({ limit: 2 }); page.length > 0; page = await idsOf({ limit: 2, after: paged.at(-1) as string }))
          paged.push(...page);
        expect(paged).toEqual(ids);
        const [info] = await log.list({ prefix: "b" });
        expect(info).toEqual({ log: "b", head: 2, updatedAt: (await all(log.read("b" as LogId)))[1]?.at });
      });
    });

    describe("leases", () => {
      it("keeps others out while one holds it, and fences off whoever lost it", async () => {
        let clock = 1000;
        await using log = await create(() => clock);
        const first = await log.acquire(LOG, { owner: "first", ttlMs: 100 });
        expect(first).toMatchObject({ log: LOG, owner: "first" });
        await log.append(LOG, 0, [record("a")], { epoch: first.epoch });
        expect(await failureOf(log.acquire(LOG, { owner: "second", ttlMs: 100 }))).toMatchObject({
          kind: "lease-held",
          log: LOG,
          owner: "first",
          expiresAt: 1100,
        });

        clock = 1099;
        await first.renew();
        clock = 1198;
        expect(await failureOf(log.acquire(LOG, { owner: "second", ttlMs: 100 }))).toMatchObject({ kind: "lease-held", expiresAt: 1199 });

        clock = 1199;
        // Expired, but nobody has taken over: it still writes.
        await log.append(LOG, 1, [record("b")], { epoch: first.epoch });
        const second = await log.acquire(LOG, { owner: "second", ttlMs: 100 });
        expect(second.epoch).toBeGreaterThan(first.epoch);
        expect(await failureOf(log.append(LOG, 2, [record("c")], { epoch: first.epoch }))).toMatchObject({
          kind: "stale-epoch",
          log: LOG,
          epoch: first.epoch,
          currentEpoch: second.epoch,
        });
        expect(await failureOf(log.append(LOG, 2, [], { epoch: first.epoch }))).toMatchObject({ kind: "stale-epoch" });
        expect(await failureOf(log.append(LOG, 1, [record("b")], { epoch: first.epoch }))).toMatchObject({ kind: "stale-epoch" });
        expect(await failureOf(first.renew())).toMatchObject({ kind: "stale-epoch" });
        await first.release();
        await log.append(LOG, 2, [record("c")], { epoch: second.epoch });
        expect(await keys(log, LOG)).toEqual(["a", "b", "c"]);
      });

      it("gives the same owner a new epoch", async () => {
        await using log = await create(() => 0);
        const first = await log.acquire(LOG, { owner: "me", ttlMs: 100 });
        const second = await log.acquire(LOG, { owner: "me", ttlMs: 100 });
        expect(second.epoch).toBeGreaterThan(first.epoch);
        expect(await failureOf(log.append(LOG, 0, [record("a")], { epoch: first.epoch }))).toMatchObject({ kind: "stale-epoch" });
        expect(await log.append(LOG, 0, [record("a")], { epoch: second.epoch })).toBe(1);
      });

      it("gives it back by release or disposal; a released epoch writes no more", async () => {
        await using log = await create(() => 0);
        const first = await log.acquire(LOG, { owner: "first", ttlMs: 100 });
        await first.release();
        await first.release();
        expect(await failureOf(log.append(LOG, 0, [record("a")], { epoch: first.epoch }))).toMatchObject({ kind: "stale-epoch" });
        expect(await failureOf(first.renew())).toMatchObject({ kind: "stale-epoch" });
        {
          await using second = await log.acquire(LOG, { owner: "second", ttlMs: 100 });
          expect(second.epoch).toBeGreaterThan(first.epoch);
        }
        await log.acquire(LOG, { owner: "third", ttlMs: 100 });
      });

      it("holds one log only, and never repeats an epoch, not even after the log was deleted", async () => {
        await using log = await create(() => 0);
        const lease = await log.acquire(LOG, { owner: "me", ttlMs: 100 });
        expect(await log.append(OTHER, 0, [record("a")])).toBe(1);
        expect(await failureOf(log.append(OTHER, 1, [record("b")], { epoch: lease.epoch }))).toMatchObject({ kind: "stale-epoch" });
        await log.append(LOG, 0, [record("a")], { epoch: lease.epoch });
        await log.delete(LOG);
        expect(await failureOf(log.append(LOG, 0, [record("a")], { epoch: lease.epoch }))).toMatchObject({ kind: "stale-epoch" });
        const next = await log.acquire(LOG, { owner: "other", ttlMs: 100 });
        expect(next.epoch).toBeGreaterThan(lease.epoch);
      });

      it("does not stay locked when the clock is set back", async () => {
        let clock = 1_000_000;
        await using log = await create(() => clock);
        await log.acquire(LOG, { owner: "first", ttlMs: 100 });
        clock = 50;
        expect(await failureOf(log.acquire(LOG, { owner: "second", ttlMs: 100 }))).toMatchObject({ kind: "lease-held", expiresAt: 150 });
        clock = 150;
        await log.acquire(LOG, { owner: "second", ttlMs: 100 });
      });

      it("refuses a lease without owner or length", async () => {
        await using log = await create(() => 0);
        for (const request of [
          { owner: "", ttlMs: 100 },
          { owner: "me", ttlMs: 0 },
          { owner: "me", ttlMs: Number.NaN },
        ]) {
          expect(await failureOf(log.acquire(LOG, request))).toMatchObject({ kind: "invalid-input" });
        }
      });
    });

    it("rejects everything after its disposal, readers that wait included", async () => {
      const log = await create(() => 0);
      await log.append(LOG, 0, [record("a")]);
      const lease = await log.acquire(LOG, { owner: "me", ttlMs: 100 });
      const reader = log.read(LOG, { after: 1, follow: true })[Symbol.asyncIterator]();
      const waiting = failureOf(reader.next());
      await log[Symbol.asyncDispose]();
      await log[Symbol.asyncDispose]();
      await lease.release();
      const calls = [
        waiting,
        ...[
          log.append(LOG, 1, [record("b")]),
          all(log.read(LOG)),
          log.head(LOG),
          log.list(),
          log.delete(LOG),
          log.acquire(LOG, { owner: "me", ttlMs: 100 }),
          lease.renew(),
        ].map(failureOf),
      ];
      for (const failure of await Promise.all(calls)) expect(failure).toMatchObject({ kind: "closed" });
    });
  });
}

async function all(records: AsyncIterable<LogRecord>): Promise<readonly LogRecord[]> {
  const list: LogRecord[] = [];
  for await (const one of records) list.push(one);
  return list;
}

async function keysOf(records: AsyncIterable<LogRecord>): Promise<readonly string[]> {
  return (await all(records)).map(({ key }) => key);
}

async function keys(log: EventLog, id: LogId): Promise<readonly string[]> {
  return keysOf(log.read(id));
}

async function nthKey(records: AsyncIterable<LogRecord>, n: number): Promise<string | undefined> {
  for await (const { seq, key } of records) if (seq === n) return key;
  return undefined;
}

/** The failure of a `LogError`; anything else that happens fails the test. */
async function failureOf(action: Promise<unknown>): Promise<LogError["failure"]> {
  try {
    await action;
  } catch (error) {
    if (LogError.is(error)) return error.failure;
    throw error;
  }
  throw new Error("It resolved, though it should have been rejected with a LogError.");
}
