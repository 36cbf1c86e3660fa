import type { EventLog, LogId, LogRecord, NewRecord, Sealed, SealOptions } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import type { CreateEventLog } from "./create-event-log.ts";
import { failureOf } from "./failure-of.ts";
import { recordsOf } from "./records-of.ts";
import { LOG, OTHER, record } from "./sample-records.ts";

type SealingLog = EventLog & { seal(log: LogId, options: SealOptions): Promise<Sealed> };

const NOTHING: Sealed = { segments: 0, records: 0, bytesBefore: 0, bytesAfter: 0 };
const ALL = Number.MAX_SAFE_INTEGER;

/** What changes when a log keeps older records in segments: nothing but their size. A log that keeps none passes. */
export function describeSealing(create: CreateEventLog): void {
  const sealing = async (test: (log: SealingLog) => Promise<void>): Promise<void> => {
    let clock = 1000;
    await using log = await create(() => clock++);
    if (canSeal(log)) await test(log);
  };

  describe("sealing", () => {
    it("makes records smaller, and changes none that is read from any place on", () =>
      sealing(async (log) => {
        const head = await fill(log, LOG, 1500);
        await log.append(OTHER, 0, [record("a")]);
        const [before, listed] = [await recordsOf(log.read(LOG)), await log.list()];
        const sealed = await log.seal(LOG, { before: 1201 });
        expect(sealed.records).toBeGreaterThan(1000);
        expect(sealed.records).toBeLessThanOrEqual(1200);
        expect(sealed.segments).toBeGreaterThan(1);
        expect(sealed.bytesAfter).toBeGreaterThan(0);
        expect(sealed.bytesAfter).toBeLessThan(sealed.bytesBefore);
        const places = [0, 1, 255, 511, 512, 513, 1023, 1199, 1200, head - 1, head, head + 5];
        for (const after of places) expect(await recordsOf(log.read(LOG, { after })), `after ${after}`).toEqual(before.slice(after));
        expect([await log.head(LOG), await log.list()]).toEqual([head, listed]);
        // As far as it goes, and from there on.
        expect((await log.seal(LOG, { before: ALL })).records).toBeGreaterThan(0);
        expect(await log.seal(LOG, { before: ALL })).toEqual(NOTHING);
        expect(await recordsOf(log.read(LOG))).toEqual(before);
        expect([await log.head(LOG), await log.list()]).toEqual([head, listed]);
        await log.append(LOG, head, [record("next")]);
        expect(await recordsOf(log.read(LOG, { after: head }))).toMatchObject([{ seq: head + 1, key: "next" }]);
      }));

    it("keeps keys taken, and what is appended again where it stands", () =>
      sealing(async (log) => {
        const head = await fill(log, LOG, 700);
        const all = await recordsOf(log.read(LOG));
        await log.seal(LOG, { before: ALL });
        for (const [from, to] of [
          [0, 3],
          [510, 515],
          [640, 660],
          [head - 3, head],
        ] as const) {
          const again = all.slice(from, to).map(newRecord);
          const standing = { seq: to, at: all[to - 1]?.at };
          expect(await log.append(LOG, from, again), `from ${from}`).toEqual(standing);
          expect(await log.append(LOG, "any", again), `from ${from}`).toEqual(standing);
        }
        const [first] = all as [LogRecord];
        const taken = { kind: "conflict", log: LOG, actualSeq: 1 };
        expect(await failureOf(log.append(LOG, "any", [{ ...newRecord(first), data: { other: true } }]))).toMatchObject(taken);
        expect(await failureOf(log.append(LOG, head, [newRecord(first)]))).toMatchObject(taken);
        expect(await failureOf(log.append(LOG, head - 1, [newRecord(first)]))).toMatchObject({ kind: "conflict", actualSeq: head });
        expect(await log.append(LOG, "any", [newRecord(first), record("new")])).toMatchObject({ seq: head + 1 });
        expect(await recordsOf(log.read(LOG))).toHaveLength(head + 1);
      }));

    it("goes on beside readers: each gets all records once, in order, from wherever it had come to", () =>
      sealing(async (log) => {
        const head = await fill(log, LOG, 900);
        const readers = [0, 1, 300, 600, 898].map((read) => ({ read, from: log.read(LOG, { follow: true })[Symbol.asyncIterator]() }));
        for (const { read, from } of readers) for (let n = 0; n < read; n++) await from.next();
        const sealed = log.seal(LOG, { before: ALL });
        await log.append(LOG, head, [record("late")]);
        for (const { read, from } of readers) {
          const seqs: number[] = [];
          while (seqs.at(-1) !== head + 1) seqs.push(((await from.next()).value as LogRecord).seq);
          expect(seqs).toEqual(Array.from({ length: head + 1 - read }, (_, n) => read + n + 1));
          await from.return?.();
        }
        expect((await sealed).records).toBeGreaterThan(0);
      }));

    it("goes on beside writers and others who seal, and nothing is lost or doubled", () =>
      sealing(async (log) => {
        let head = await fill(log, LOG, 400);
        const sealers = Array.from({ length: 3 }, async () => {
          for (let n = 0; n < 4; n++) await log.seal(LOG, { before: ALL });
        });
        for (let n = 0; n < 40; n++) ({ seq: head } = await log.append(LOG, head, some(head, 10)));
        await Promise.all(sealers);
        const records = await recordsOf(log.read(LOG));
        expect(records.map(({ seq }) => seq)).toEqual(Array.from({ length: head }, (_, n) => n + 1));
        expect(records.map(({ key }) => key)).toEqual(records.map((_, n) => `k${n}`));
      }));

    it("ends with the log: nothing that was sealed is there in one that is made anew", () =>
      sealing(async (log) => {
        await fill(log, LOG, 600);
        await fill(log, OTHER, 600);
        await log.seal(LOG, { before: ALL });
        await log.seal(OTHER, { before: ALL });
        const reader = log.read(LOG)[Symbol.asyncIterator]();
        for (let n = 0; n < 600 - 1; n++) await reader.next();
        await log.delete(LOG);
        expect(await recordsOf(log.read(LOG))).toEqual([]);
        expect(await log.append(LOG, 0, [record("k1"), record("k0")])).toMatchObject({ seq: 2 });
        expect(await recordsOf(log.read(LOG))).toMatchObject([{ key: "k1" }, { key: "k0" }]);
        await reader.return?.();
        expect(await recordsOf(log.read(OTHER))).toHaveLength(600);
        const deleting = log.seal(LOG, { before: ALL });
        await log.delete(LOG);
        expect(await deleting).toEqual(NOTHING);
        expect(await log.head(LOG)).toBe(0);
      }));

    it("seals nothing of a log that is not there, nor where that would save nothing", () =>
      sealing(async (log) => {
        expect(await log.seal(LOG, { before: ALL })).toEqual(NOTHING);
        expect(await log.head(LOG)).toBe(0);
        await log.append(LOG, 0, [record("a"), record("b")]);
        await log.append(LOG, 2, [record("c")]);
        expect(await log.seal(LOG, { before: ALL })).toEqual(NOTHING);
        await fill(log, OTHER, 600);
        expect(await log.seal(OTHER, { before: 1 })).toEqual(NOTHING);
        const [enough, invalid] = [AbortSignal.abort(new Error("enough")), { kind: "invalid-input" }];
        await expect(log.seal(OTHER, { before: ALL, signal: enough })).rejects.toThrow("enough");
        for (const before of [0, -1, 1.5, Number.NaN]) expect(await failureOf(log.seal(OTHER, { before }))).toMatchObject(invalid);
        await log[Symbol.asyncDispose]();
        expect(await failureOf(log.seal(OTHER, { before: ALL }))).toMatchObject({ kind: "closed" });
      }));

    it("leaves records to be found by their words, and those without words to who looks for them", () =>
      sealing(async (log) => {
        const { index } = log;
        if (index === undefined) return;
        const head = await fill(log, LOG, 100, { texts: (seq) => (seq === 50 ? "harbour" : "") });
        await fill(log, OTHER, 100);
        await log.seal(LOG, { before: ALL });
        await log.seal(OTHER, { before: ALL });
        expect(await index.search("harbour", { limit: 5 })).toMatchObject([{ log: LOG, seq: 50 }]);
        const waiting = await index.unindexed(1000);
        const without = waiting.filter(({ log: id }) => id === OTHER);
        expect(without.reduce((sum, { after, upTo }) => sum + upTo - after, 0)).toBe(head);
        for (const stretch of without) await index.add(stretch, [{ seq: stretch.upTo, text: "lighthouse" }]);
        expect(await index.unindexed(1000)).toHaveLength(waiting.length - without.length);
        expect((await index.search("lighthouse", { limit: 50 })).length).toBe(without.length);
      }));
  });
}

function canSeal(log: EventLog): log is SealingLog {
  return log.seal !== undefined;
}

/** Records whose keys are `k` and their seq less one, as many as there are places between. */
function some(after: number, count: number): readonly NewRecord[] {
  return Array.from({ length: count }, (_, n) => {
    const text = `what was said at place ${after + n}, in words of any script: é 漢 😀`;
    return { key: `k${after + n}`, type: n % 2 === 0 ? "note" : "other", data: { text, n: after + n } };
  });
}

/** Appends of one to five records, until there are so many. */
async function fill(
  log: EventLog,
  id: LogId,
  count: number,
  { texts }: { readonly texts?: (seq: number) => string } = {},
): Promise<number> {
  let head = 0;
  for (let size = 1; head < count; size = (size % 5) + 1) {
    const records = some(head, Math.min(size, count - head));
    const from = head + 1;
    const words = texts && records.map((_, n) => texts(from + n));
    ({ seq: head } = await log.append(id, head, records, { summary: { head: from }, ...(words && { texts: words }) }));
  }
  return head;
}

function newRecord({ key, type, data }: LogRecord): NewRecord {
  return { key, type, data };
}
