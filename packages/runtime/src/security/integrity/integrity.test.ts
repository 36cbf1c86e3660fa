import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { EventLog, LogId, LogRecord } from "@keelson/protocol";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { createKeyRing, newKey } from "../../environment/crypto/keys.ts";
import { aroundEventLog } from "../../state/kit/around-event-log.ts";
import { createMemoryEventLog } from "../../state/memory/memory-event-log.ts";
import { createSqliteEventLog } from "../../state/sqlite/sqlite-event-log.ts";
import { describeEventLog } from "../../testing/event-log-contract.ts";
import { failureOf } from "../../testing/event-log-contract/failure-of.ts";
import { recordsOf } from "../../testing/event-log-contract/records-of.ts";
import { encryptEventLog } from "../encryption/encrypt-event-log.ts";
import { chainEventLog } from "./chain-event-log.ts";
import { checkLog } from "./check-log.ts";
import { repairLog } from "./repair-log.ts";

const folder = await mkdtemp(join(tmpdir(), "keelson-chained-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;

const LOG = "session/a" as LogId;
const COPY = "session/b" as LogId;
const keys = createKeyRing({ current: newKey() });

describeEventLog("a chained log in memory", (now) => chainEventLog(createMemoryEventLog({ now })));
describeEventLog("a chained and encrypted log in SQLite", (now) =>
  chainEventLog(encryptEventLog(createSqliteEventLog({ path: join(folder, `${++files}.db`), now }), { keys })),
);

/** A log of so many records, in appends of one to three. */
async function filled(count: number): Promise<EventLog> {
  const log = createMemoryEventLog({ now: () => 1000 });
  const chain = chainEventLog(log);
  for (let seq = 0, size = 1; seq < count; size = (size % 3) + 1) {
    const batch = Array.from({ length: Math.min(size, count - seq) }, (_, n) => ({
      key: `k${seq + n}`,
      type: "note",
      data: { n: seq + n },
    }));
    await chain.append(LOG, size === 2 ? "any" : seq, batch);
    seq += batch.length;
  }
  return log;
}

/** The log as somebody left it who can write to its store and numbers the records anew. */
function tampered(log: EventLog, change: (records: LogRecord[]) => LogRecord[]): EventLog {
  return aroundEventLog(log, {
    async *read(id, { after = 0 } = {}) {
      const records = [...(await recordsOf(log.read(id)))];
      const changed = id === LOG ? change(records).map((record, index) => ({ ...record, seq: index + 1 })) : records;
      yield* changed.slice(after);
    },
  });
}

const swap = (records: LogRecord[], one: number, other: number): LogRecord[] =>
  records.with(one, records[other] as LogRecord).with(other, records[one] as LogRecord);

describe("a chained log", () => {
  it("reads as one without hashes does, and has one in each record beneath", async () => {
    const log = await filled(10);
    expect((await recordsOf(chainEventLog(log).read(LOG))).map(({ data }) => data)).toEqual(Array.from({ length: 10 }, (_, n) => ({ n })));
    for (const { seq, data } of await recordsOf(log.read(LOG))) expect(data["~chain"]).toMatch(new RegExp(`^${seq}:[0-9a-f]{64}$`));
    expect(await checkLog(log, LOG)).toMatchObject({ records: 10, unchained: 0, sound: 10, problems: [], head: { seq: 10 } });
  });

  it("shows the first record that was changed, moved, taken out or put in between, to the check and to who reads it", async () => {
    const count = 12;
    const log = await filled(count);
    const head = (await checkLog(log, LOG)).head;
    const place = fc.nat({ max: count - 1 });
    const forged = (record: LogRecord): LogRecord => ({ ...record, data: { ...record.data, n: -1 } });
    const tampering = fc.oneof(
      place.map((at) => ({ what: "change", at, change: (records: LogRecord[]) => records.with(at, forged(records[at] as LogRecord)) })),
      place.map((at) => ({
        what: "retype",
        at,
        change: (records: LogRecord[]) => records.with(at, { ...(records[at] as LogRecord), type: "x" }),
      })),
      place.map((at) => ({ what: "remove", at, change: (records: LogRecord[]) => records.toSpliced(at, 1) })),
      place.map((at) => ({
        what: "insert",
        at,
        change: (records: LogRecord[]) => records.toSpliced(at, 0, { ...(records[at] as LogRecord), key: "new" }),
      })),
      fc
        .tuple(place, place)
        .filter(([one, other]) => one !== other)
        .map(([one, other]) => ({
          what: "swap",
          at: Math.min(one, other),
          change: (records: LogRecord[]) => swap(records, one, other),
        })),
    );
    await fc.assert(
      fc.asyncProperty(tampering, async ({ at, change }) => {
        const bad = tampered(log, change);
        const check = await checkLog(bad, LOG, { head });
        expect(check.problems.length).toBeGreaterThan(0);
        expect(check.sound).toBe(at);
        const read: number[] = [];
        const reading = (async () => {
          for await (const { seq } of chainEventLog(bad).read(LOG)) read.push(seq);
        })();
        // A record that is missing at the end shows against the head that was kept, and to nobody else.
        if (change([...(await recordsOf(log.read(LOG)))]).length < count && at === count - 1) await reading;
        else expect(await failureOf(reading)).toMatchObject({ kind: "corrupt", log: LOG, seq: at + 1 });
        expect(read).toHaveLength(at);
      }),
    );
  });

  it("says what each problem is, and goes on checking behind it", async () => {
    const log = await filled(8);
    const problemsOf = async (change: (records: LogRecord[]) => LogRecord[]): Promise<readonly string[]> =>
      (await checkLog(tampered(log, change), LOG)).problems.map(({ seq, problem }) => `${seq} ${problem}`);
    expect(
      await problemsOf((records) =>
        records.with(2, { ...(records[2] as LogRecord), key: "x" }).with(5, { ...(records[5] as LogRecord), data: {} }),
      ),
    ).toEqual(
      // One without a hash is not known to be wrong; the one behind it does not follow it.
      ["3 changed", "7 changed"],
    );
    expect(await problemsOf((records) => swap(records, 3, 4))).toEqual(["4 moved", "5 moved", "6 changed"]);
    expect(await problemsOf((records) => records.toSpliced(5, 1))).toEqual(["6 moved", "7 moved"]);
    expect(
      (
        await checkLog(
          tampered(log, (records) => records.slice(1)),
          LOG,
          { maxProblems: 3 },
        )
      ).problems,
    ).toHaveLength(3);
  });

  it("shows a cut end, and a log that was made anew, against a head that was kept", async () => {
    const log = await filled(9);
    const { head } = await checkLog(log, LOG);
    const check = async (kept: EventLog, at = head) => checkLog(kept, LOG, { head: at });
    expect((await check(tampered(log, (records) => records.slice(0, 6)))).problems).toMatchObject([{ seq: 7, problem: "cut-off" }]);
    expect(await check(createMemoryEventLog())).toMatchObject({ sound: 0, problems: [{ seq: 1, problem: "cut-off" }] });
    // It may have gone on since.
    await chainEventLog(log).append(LOG, 9, [{ key: "more", type: "note", data: {} }]);
    expect((await check(log)).problems).toEqual([]);
    const anew = createMemoryEventLog();
    await chainEventLog(anew).append(
      LOG,
      0,
      Array.from({ length: 12 }, (_, n) => ({ key: `k${n}`, type: "note", data: { n: -n } })),
    );
    expect(await check(anew)).toMatchObject({ sound: 0, problems: [{ seq: 9, problem: "replaced" }] });
  });

  it("reads records from before there were hashes, and those of a version without them in between, and counts them", async () => {
    const log = createMemoryEventLog();
    await log.append(LOG, 0, [{ key: "old", type: "note", data: { n: 0 } }]);
    const chain = chainEventLog(log);
    const lease = await chain.acquire(LOG, { owner: "me", ttlMs: 1000 });
    await chain.append(LOG, 1, [{ key: "a", type: "note", data: { n: 1 } }], { epoch: lease.epoch });
    await chain.append(LOG, 2, [{ key: "b", type: "note", data: { n: 2 } }], { epoch: lease.epoch });
    await log.append(LOG, "any", [{ key: "older", type: "note", data: { n: 3 } }]);
    await chain.append(LOG, 4, [{ key: "c", type: "note", data: { n: 4 } }], { epoch: lease.epoch });
    expect((await recordsOf(chain.read(LOG))).map(({ data }) => data)).toEqual([0, 1, 2, 3, 4].map((n) => ({ n })));
    expect((await recordsOf(chain.read(LOG, { after: 2 }))).map(({ data }) => data)).toEqual([2, 3, 4].map((n) => ({ n })));
    expect(await checkLog(log, LOG)).toMatchObject({ records: 5, unchained: 2, sound: 5, problems: [] });
    // What is behind one without a hash shows that it was changed.
    const changed = tampered(log, (records) => records.with(3, { ...(records[3] as LogRecord), data: { n: -1 } }));
    expect(await checkLog(changed, LOG)).toMatchObject({ sound: 3, problems: [{ seq: 5, problem: "changed" }] });
  });

  it("is chained by every one of many writers, in this process and beside it", async () => {
    const log = createMemoryEventLog();
    const writers = [chainEventLog(log), chainEventLog(log), chainEventLog(log)];
    await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        writers[n % 3]?.append(LOG, "any", [
          { key: `k${n}`, type: "note", data: { n } },
          { key: `same`, type: "note", data: {} },
        ]),
      ),
    );
    expect(await checkLog(log, LOG)).toMatchObject({ records: 61, unchained: 0, problems: [] });
  });

  it("refuses data that have a member where the hash goes, and keeps nothing of them", async () => {
    const log = createMemoryEventLog();
    expect(await failureOf(chainEventLog(log).append(LOG, 0, [{ key: "a", type: "note", data: { "~chain": "1:x" } }]))).toMatchObject({
      kind: "invalid-input",
    });
    expect(await log.head(LOG)).toBe(0);
  });

  it("can't be made anew by who has no key, where it is encrypted beneath", async () => {
    const path = join(folder, `${++files}.db`);
    await using store = createSqliteEventLog(path);
    const encrypted = encryptEventLog(store, { keys });
    const chain = chainEventLog(encrypted);
    for (let n = 0; n < 4; n++) await chain.append(LOG, n, [{ key: `k${n}`, type: "note", data: { n } }]);
    using database = new DatabaseSync(path);
    // The third takes the place of the second, and the fourth that of the third.
    const places = database
      .prepare("SELECT place FROM appends ORDER BY place")
      .all()
      .map(({ place }) => place as number);
    database.exec(`DELETE FROM appends WHERE place = ${places[1]}`);
    for (const index of [2, 3]) database.exec(`UPDATE appends SET place = place - 1 WHERE place = ${places[index]}`);
    expect(await checkLog(encrypted, LOG)).toMatchObject({
      sound: 1,
      problems: [
        { seq: 2, problem: "moved" },
        { seq: 3, problem: "moved" },
      ],
    });
  });
});

describe("a log that is repaired", () => {
  it("is a log of what is sound, with times and hashes; it says what it dropped, and the damaged one stays as it is", async () => {
    const log = await filled(12);
    const bad = tampered(log, (records) => records.with(7, { ...(records[7] as LogRecord), data: { n: 99 } }));
    const before = await recordsOf(bad.read(LOG));
    const repaired = await repairLog(bad, LOG, { to: COPY });
    expect(repaired).toMatchObject({ kept: 7, dropped: 5, check: { sound: 7 } });
    const copied = await recordsOf(chainEventLog(bad).read(COPY));
    expect(copied.map(({ data, at }) => [data, at])).toEqual(Array.from({ length: 7 }, (_, n) => [{ n }, 1000]));
    expect(await checkLog(bad, COPY)).toMatchObject({ records: 7, unchained: 0, problems: [] });
    expect(await recordsOf(bad.read(LOG))).toEqual(before);
    expect(await failureOf(repairLog(bad, LOG, { to: COPY }))).toMatchObject({ kind: "invalid-input" });
  });

  it("keeps what stands before a row of the database that can't be read", async () => {
    const path = join(folder, `${++files}.db`);
    await using log = createSqliteEventLog(path);
    // From before there were hashes.
    for (let n = 0; n < 6; n++) await log.append(LOG, n, [{ key: `k${n}`, type: "note", data: { n } }]);
    using database = new DatabaseSync(path);
    database.exec("UPDATE appends SET data = 'torn' WHERE place = (SELECT place FROM appends ORDER BY place LIMIT 1 OFFSET 4)");
    const { kept, dropped, check } = await repairLog(log, LOG, { to: COPY });
    expect({ kept, dropped }).toEqual({ kept: 4, dropped: 2 });
    expect(check).toMatchObject({
      unchained: 4,
      sound: 4,
      problems: [{ seq: 5, problem: "unreadable", message: expect.stringContaining(path) }],
    });
    expect(await log.head(COPY)).toBe(4);
  });

  it("keeps what stands before a segment that can't be read, and says how many records it dropped with it", async () => {
    const path = join(folder, `${++files}.db`);
    await using log = createSqliteEventLog(path);
    const chain = chainEventLog(encryptEventLog(log, { keys }));
    for (let n = 0; n < 700; n++) await chain.append(LOG, n, [{ key: `k${n}`, type: "note", data: { n } }]);
    expect((await chain.seal?.(LOG, { before: 1000 }))?.segments).toBe(2);
    expect((await recordsOf(chain.read(LOG))).map(({ data }) => data["n"])).toEqual(Array.from({ length: 700 }, (_, n) => n));
    using database = new DatabaseSync(path);
    database.exec("UPDATE segments SET bytes = zeroblob(length(bytes)) WHERE place = (SELECT max(place) FROM segments)");
    const { kept, dropped, check } = await repairLog(encryptEventLog(log, { keys }), LOG, { to: COPY });
    expect({ kept, dropped }).toEqual({ kept: 512, dropped: 188 });
    expect(check).toMatchObject({
      sound: 512,
      problems: [{ seq: 513, problem: "unreadable", message: expect.stringContaining("holds records 513 to 699") }],
    });
  });
});
