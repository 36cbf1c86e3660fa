import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KeyRing, LogId, LogRecord } from "@keelson/protocol";
import { afterAll, describe, expect, it } from "vitest";
import { createKeyRing, newKey } from "../../environment/crypto/keys.ts";
import { createMemoryEventLog } from "../../state/memory/memory-event-log.ts";
import { createSqliteEventLog } from "../../state/sqlite/sqlite-event-log.ts";
import { describeEventLog } from "../../testing/event-log-contract.ts";
import { failureOf } from "../../testing/event-log-contract/failure-of.ts";
import { recordsOf } from "../../testing/event-log-contract/records-of.ts";
import { encryptEventLog } from "./encrypt-event-log.ts";

const folder = await mkdtemp(join(tmpdir(), "keelson-encrypted-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;

const first = newKey();
const second = newKey();
const onlyFirst = createKeyRing({ current: first });
const both = createKeyRing({ current: second, previous: [first] });
const onlySecond = createKeyRing({ current: second });
const LOG = "session/a" as LogId;

describeEventLog("an encrypted log in memory", (now) => encryptEventLog(createMemoryEventLog({ now }), { keys: onlyFirst }));
describeEventLog("an encrypted log in SQLite", (now) =>
  encryptEventLog(createSqliteEventLog({ path: join(folder, `${++files}.db`), now }), { keys: onlyFirst }),
);

describe("an encrypted log", () => {
  it("gives the log beneath nothing of data, summaries and blobs, and all that it goes by", async () => {
    const inner = createSqliteEventLog(join(folder, `${++files}.db`));
    await using log = encryptEventLog(inner, { keys: onlyFirst });
    await log.append(LOG, 0, [{ key: "k", type: "note", data: { password: "hunter2" } }], { summary: { name: "hunter3" } });
    const digest = await log.blobs?.put(Buffer.from("hunter4"));
    const kept = JSON.stringify([
      await recordsOf(inner.read(LOG)),
      await inner.list(),
      Buffer.from((digest && (await inner.blobs.get(digest))) ?? "").toString("latin1"),
    ]);
    expect(kept).not.toMatch(/hunter|password|name/);
    expect(await recordsOf(inner.read(LOG))).toMatchObject([{ seq: 1, key: "k", type: "note" }]);
    expect(await recordsOf(log.read(LOG))).toMatchObject([{ seq: 1, key: "k", type: "note", data: { password: "hunter2" } }]);
    expect(await log.list()).toMatchObject([{ log: LOG, head: 1, summary: { name: "hunter3" } }]);
    expect(Buffer.from((digest && (await log.blobs?.get(digest))) ?? "").toString()).toBe("hunter4");
    expect(log.ledger).toBe(inner.ledger);
  });

  it("opens no record that was changed, moved to another log, key or type, or put there plain; those before it are given", async () => {
    const inner = createMemoryEventLog();
    const log = encryptEventLog(inner, { keys: onlyFirst });
    await log.append(LOG, 0, [{ key: "k", type: "note", data: { n: 1 } }]);
    /** What is sealed for a log, in another store. */
    const sealedFor = async (id: LogId): Promise<LogRecord> => {
      const store = createMemoryEventLog();
      await encryptEventLog(store, { keys: onlyFirst }).append(id, 0, [{ key: "k", type: "note", data: { n: 1 } }]);
      return (await recordsOf(store.read(id)))[0] as LogRecord;
    };
    const changed = (text: string): string => {
      const at = text.length - 5;
      return `${text.slice(0, at)}${text[at] === "A" ? "B" : "A"}${text.slice(at + 1)}`;
    };
    const cases: { readonly [why: string]: (sealed: LogRecord) => Omit<LogRecord, "seq" | "at"> } = {
      changed: (sealed) => ({ ...sealed, data: { "~sealed": changed(sealed.data["~sealed"] as string) } }),
      key: (sealed) => ({ ...sealed, key: "other" }),
      type: (sealed) => ({ ...sealed, type: "other" }),
      log: (sealed) => sealed,
      plain: (sealed) => ({ ...sealed, data: { n: 1 } }),
      beside: (sealed) => ({ ...sealed, data: { ...sealed.data, more: true } }),
    };
    for (const [why, change] of Object.entries(cases)) {
      const id = `session/${why}` as LogId;
      const { key, type, data } = change(await sealedFor(why === "log" ? LOG : id));
      // The first is sound, for its own log.
      await log.append(id, 0, [{ key: "before", type: "note", data: { sound: true } }]);
      await inner.append(id, 1, [{ key, type, data }]);
      const reader = log.read(id)[Symbol.asyncIterator]();
      expect((await reader.next()).value).toMatchObject({ data: { sound: true } });
      expect(await failureOf(reader.next()), why).toMatchObject({
        kind: "corrupt",
        log: id,
        seq: 2,
        message: expect.stringMatching(/left as it is|mayBePlain/),
      });
      expect(await reader.next()).toMatchObject({ done: true });
    }
    expect(await recordsOf(log.read(LOG))).toMatchObject([{ data: { n: 1 } }]);
  });

  it("reads what an old key sealed while the ring has it; without it, it names the key, lists the log without a summary, and nothing is lost", async () => {
    const inner = createMemoryEventLog();
    await encryptEventLog(inner, { keys: onlyFirst }).append(LOG, 0, [{ key: "a", type: "t", data: { n: 1 } }], { summary: { n: 1 } });
    const rotated = encryptEventLog(inner, { keys: both });
    await rotated.append(LOG, 1, [{ key: "b", type: "t", data: { n: 2 } }]);
    // Said again under another key, it is the same all the same.
    expect(await rotated.append(LOG, "any", [{ key: "a", type: "t", data: { n: 1 } }])).toMatchObject({ seq: 1 });
    expect(await failureOf(rotated.append(LOG, "any", [{ key: "a", type: "t", data: { n: 3 } }]))).toMatchObject({ kind: "conflict" });
    expect((await recordsOf(rotated.read(LOG))).map(({ data }) => data)).toEqual([{ n: 1 }, { n: 2 }]);
    const lost = encryptEventLog(inner, { keys: onlySecond });
    const failure = await failureOf(recordsOf(lost.read(LOG)));
    expect(failure).toMatchObject({ kind: "corrupt", seq: 1 });
    expect(failure.message).toContain(`"${first.id}"`);
    expect(await encryptEventLog(inner, { keys: createKeyRing({ current: newKey() }) }).list()).toMatchObject([{ log: LOG, head: 2 }]);
    expect(await recordsOf(rotated.read(LOG))).toHaveLength(2);
  });

  it("reads what was plain before where that is allowed, and seals what comes", async () => {
    const inner = createMemoryEventLog();
    await inner.append(LOG, 0, [{ key: "old", type: "t", data: { n: 1 } }], { summary: { n: 1 } });
    const moving = encryptEventLog(inner, { keys: onlyFirst, mayBePlain: true });
    expect(await moving.list()).toMatchObject([{ summary: { n: 1 } }]);
    await moving.append(LOG, 1, [{ key: "new", type: "t", data: { n: 2 } }]);
    expect((await recordsOf(moving.read(LOG))).map(({ data }) => data)).toEqual([{ n: 1 }, { n: 2 }]);
    expect(Object.keys((await recordsOf(inner.read(LOG)))[1]?.data ?? {})).toEqual(["~sealed"]);
  });

  it("takes appends in the order of their calls, however long the keys of each take", async () => {
    const waiting: (() => void)[] = [];
    const slow: KeyRing = {
      current: async () => new Promise((resolve) => void waiting.push(() => resolve(first))),
      find: (id) => onlyFirst.find(id),
    };
    const log = encryptEventLog(createMemoryEventLog(), { keys: slow });
    const appends = ["a", "b", "c"].map((key) => log.append(LOG, "any", [{ key, type: "t", data: {} }]));
    while (waiting.length > 0) {
      waiting.pop()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await Promise.all(appends)).map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect((await recordsOf(log.read(LOG))).map(({ key }) => key)).toEqual(["a", "b", "c"]);
  });

  it("goes on after an append whose key could not be had, of which nothing is kept", async () => {
    let fails = true;
    const ring: KeyRing = {
      current: async () => {
        if (fails) throw new Error("no connection to the vault");
        return first;
      },
      find: (id) => onlyFirst.find(id),
    };
    const log = encryptEventLog(createMemoryEventLog(), { keys: ring });
    await expect(log.append(LOG, 0, [{ key: "a", type: "t", data: {} }])).rejects.toThrow("no connection");
    fails = false;
    expect(await log.append(LOG, 0, [{ key: "a", type: "t", data: {} }])).toMatchObject({ seq: 1 });
  });
});
