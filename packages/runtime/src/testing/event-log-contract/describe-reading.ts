import type { EventLog, LogId, LogRecord } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import type { CreateEventLog } from "./create-event-log.ts";
import { failureOf } from "./failure-of.ts";
import { recordsOf } from "./records-of.ts";
import { LOG, OTHER, record } from "./sample-records.ts";

/** Reading, following, deleting and listing. */
export function describeReading(create: CreateEventLog): void {
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
        const seqs = (await recordsOf(log.read(LOG, { after }))).map(({ seq }) => seq);
        expect(seqs).toEqual(Array.from({ length: Math.max(0, count - after) }, (_, n) => after + n + 1));
      }
      expect(await recordsOf(log.read("session/none" as LogId))).toEqual([]);
      expect(await failureOf(recordsOf(log.read(LOG, { after: -1 })))).toMatchObject({ kind: "invalid-input" });
    });

    it("follows: every reader gets each record once, in order, also of a log that comes later", async () => {
      await using log = await create(Date.now);
      const stop = new AbortController();
      const readers = [0, 0, 2].map((after) => following(log.read(LOG, { after, follow: true, signal: stop.signal }), "f"));
      const last = nthKey(log.read(LOG, { follow: true }), 6);
      await log.append(LOG, 0, [record("a"), record("b"), record("c")]);
      await log.append(LOG, "any", [record("d")]);
      await log.append(OTHER, "any", [record("elsewhere")]);
      await log.append(LOG, 4, [record("e"), record("f")]);
      expect(await last).toBe("f");
      await Promise.all(readers.map(({ reached }) => reached));
      stop.abort();
      expect(await Promise.all(readers.map(({ keys }) => keys))).toEqual([
        ["a", "b", "c", "d", "e", "f"],
        ["a", "b", "c", "d", "e", "f"],
        ["c", "d", "e", "f"],
      ]);
    });

    it("serves readers that follow from every place, behind the end too, while several writers append and readers leave", async () => {
      await using log = await create(Date.now);
      const count = 60;
      const readers = Array.from({ length: count }, async (_, after) => {
        const seqs: number[] = [];
        // Every third leaves before the end.
        const until = after % 3 === 0 ? Math.ceil((after + count) / 2) : count;
        for await (const { seq } of log.read(LOG, { after, follow: true })) if (seqs.push(seq) && seq >= until) break;
        return { after, seqs, until };
      });
      let appended = 0;
      for (let size = 1; appended < count; size = (size % 5) + 1) {
        const batch = Array.from({ length: Math.min(size, count - appended) }, (_, n) => record(`k${appended + n}`));
        // In an inbox some come each for itself, others together.
        if (size % 2 === 0) await Promise.all(batch.map((one) => log.append(LOG, "any", [one])));
        else await log.append(LOG, appended, batch);
        appended += batch.length;
      }
      for (const { after, seqs, until } of await Promise.all(readers))
        expect(seqs, `after ${after}`).toEqual(Array.from({ length: until - after }, (_, n) => after + n + 1));
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
      expect(await recordsOf(log.read(LOG, { follow: true, signal: aborted }))).toEqual([]);
      await expect(recordsOf(log.read(LOG, { signal: aborted }))).rejects.toThrow("enough");
    });

    it("tells readers of a deleted log, and starts anew under its id", async () => {
      await using log = await create(Date.now);
      await log.append(LOG, 0, [record("a"), record("b")]);
      await log.append(OTHER, 0, [record("a")]);
      const reader = log.read(LOG, { follow: true })[Symbol.asyncIterator]();
      await reader.next();
      await reader.next();
      // It may hear of it before the deletion resolves.
      const failure = failureOf(reader.next());
      await log.delete(LOG);
      expect(await failure).toMatchObject({ kind: "not-found", log: LOG });
      expect(await reader.next()).toMatchObject({ done: true });
      await log.delete(LOG);
      expect(await log.head(LOG)).toBe(0);
      expect(await log.head(OTHER)).toBe(1);
      expect(await log.append(LOG, 0, [record("b")])).toMatchObject({ seq: 1 });
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
      expect(info).toEqual({ log: "b", head: 2, updatedAt: (await recordsOf(log.read("b" as LogId)))[1]?.at });
    });
  });
}

/** All keys that come until the reader ends, and when this one has. */
function following(
  records: AsyncIterable<LogRecord>,
  last: string,
): { readonly keys: Promise<readonly string[]>; readonly reached: Promise<void> } {
  const { promise: reached, resolve } = Promise.withResolvers<void>();
  const keys = (async () => {
    const all: string[] = [];
    for await (const { key } of records) {
      all.push(key);
      if (key === last) resolve();
    }
    return all;
  })();
  return { keys, reached };
}

async function nthKey(records: AsyncIterable<LogRecord>, n: number): Promise<string | undefined> {
  for await (const { seq, key } of records) if (seq === n) return key;
  return undefined;
}
