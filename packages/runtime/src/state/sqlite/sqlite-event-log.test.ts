import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { LogError, type LogId, type LogRecord, type NewRecord } from "@keelson/protocol";
import { afterAll, expect, it } from "vitest";
import { describeEventLog } from "../../testing/event-log-contract.ts";
import { describeLogIndex } from "../../testing/log-index-contract.ts";
import { processOwner } from "../../platform/process-owner.ts";
import { openSqliteDatabase } from "./sqlite-database.ts";
import { createSqliteEventLog } from "./sqlite-event-log.ts";

const folder = await mkdtemp(join(tmpdir(), "keelson-log-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const newPath = (): string => join(folder, `${++files}.db`);
const LOG = "session/a" as LogId;

function recordsWith(...keys: readonly string[]): readonly NewRecord[] {
  return keys.map((key) => ({ key, type: "t", data: {} }));
}

describeEventLog("createSqliteEventLog", (now) => createSqliteEventLog({ path: newPath(), now }));
describeLogIndex("createSqliteEventLog", () => createSqliteEventLog(newPath()));

it("keeps its logs in the file, for whoever opens it next", async () => {
  const path = newPath();
  {
    await using log = createSqliteEventLog(path);
    await log.append(LOG, 0, [{ key: "a", type: "t", data: { n: 1 } }]);
  }
  await using again = createSqliteEventLog(path);
  const records: LogRecord[] = [];
  for await (const record of again.read(LOG)) records.push(record);
  expect(records).toMatchObject([{ seq: 1, key: "a", type: "t", data: { n: 1 } }]);
});

it("gives each lease a higher epoch than any before, also where others took some meanwhile", async () => {
  const path = newPath();
  await using log = createSqliteEventLog(path);
  const epochOf = async (name: string): Promise<number> => (await log.acquire(name as LogId, { owner: "me", ttlMs: 1000 })).epoch;
  const first = await epochOf("a");
  expect(await epochOf("b")).toBeGreaterThan(first);
  const other = new DatabaseSync(path);
  const theirs = other.prepare("UPDATE counters SET last_epoch = last_epoch + 1 RETURNING last_epoch").get()?.["last_epoch"] as number;
  const next = await epochOf("c");
  expect(next).toBeGreaterThan(theirs);
  expect(await epochOf("b")).toBeGreaterThan(next);
  // What this process does not know of yet.
  other.exec(`INSERT INTO logs (name, epoch, owner, ttl_ms, expires_at) VALUES ('d', 7, '${processOwner()}', 1000, ${Date.now() + 1000})`);
  await expect(epochOf("d")).rejects.toMatchObject({ failure: { kind: "lease-held" } });
  other.close();
});

it("gives nobody the epochs of a transaction that failed", async () => {
  const path = newPath();
  await using log = createSqliteEventLog(path);
  const database = openSqliteDatabase(path);
  const acquire = async (): Promise<number> => (await log.acquire(LOG, { owner: "me", ttlMs: 1000 })).epoch;
  database.connection.exec("CREATE TRIGGER refuse BEFORE INSERT ON logs BEGIN SELECT RAISE(ABORT, 'refused'); END");
  await expect(acquire()).rejects.toThrow("refused");
  database.connection.exec("DROP TRIGGER refuse");
  const other = new DatabaseSync(path);
  // The very number that the failed transaction had reached.
  other.exec("UPDATE counters SET last_epoch = last_epoch + 64");
  expect(await acquire()).toBeGreaterThan(64);
  other.close();
  database.close();
});

it("syncs the disk for appends that must survive a power cut, and for no others", async () => {
  const path = newPath();
  await using log = createSqliteEventLog(path);
  const database = openSqliteDatabase(path);
  const { connection } = database;
  const NORMAL = 1;
  const FULL = 2;
  const synchronous = (): unknown => connection.prepare("PRAGMA synchronous").get()?.["synchronous"];
  const syncs = (): unknown => connection.prepare("SELECT syncs FROM counters").get()?.["syncs"];
  await log.append(LOG, 0, [{ key: "a", type: "t", data: {} }]);
  expect(synchronous()).toBe(NORMAL);
  await log.append(LOG, 1, [{ key: "b", type: "t", data: {} }], { durability: "power" });
  expect(synchronous()).toBe(FULL);
  await log.append(LOG, 2, [{ key: "c", type: "t", data: {} }], { durability: "process" });
  expect(synchronous()).toBe(NORMAL);
  expect(syncs()).toBe(0);
  // The first call may have died between writing and syncing: its repetition must sync, though it has nothing to write.
  await log.append(LOG, 2, [{ key: "c", type: "t", data: {} }], { durability: "power" });
  await log.append(LOG, "any", [{ key: "c", type: "t", data: {} }], { durability: "power" });
  expect([synchronous(), syncs()]).toEqual([FULL, 2]);
  database.close();
});

it("wakes readers of another connection when they look again, and looks only while somebody waits", async () => {
  const path = newPath();
  let look: (() => void) | undefined;
  let started = 0;
  const poll = (tick: () => void): (() => void) => {
    started += 1;
    look = tick;
    return () => (look = undefined);
  };
  await using log = createSqliteEventLog({ path, poll });
  const other = new DatabaseSync(path);
  const addLog = (): void => other.exec(`INSERT INTO logs (name) VALUES ('${LOG}')`);
  const addRecord = (seq: number): void =>
    other.exec(
      `INSERT INTO appends (place, at, records, names, data) VALUES ((SELECT id FROM logs) << 36 | ${seq}, 5, 1, '["k${seq}","t"]', '[{}]')`,
    );

  const reader = log.read(LOG, { follow: true })[Symbol.asyncIterator]();
  const first = reader.next();
  addLog();
  look?.();
  addRecord(1);
  look?.();
  expect((await first).value).toMatchObject({ seq: 1, key: "k1", at: 5 });
  expect(look).toBeUndefined();

  const second = reader.next();
  look?.();
  // Own appends wake without a look.
  await log.append(LOG, 1, [{ key: "own", type: "t", data: {} }]);
  expect((await second).value).toMatchObject({ key: "own" });
  expect([started, look]).toEqual([2, undefined]);

  const third = reader.next();
  other.exec("DELETE FROM logs; DELETE FROM appends");
  (look as (() => void) | undefined)?.();
  await expect(third).rejects.toSatisfy((error) => LogError.is(error, "not-found"));
  other.close();
});

it("replaces a lease whose process died at once, but not one of a process elsewhere", async () => {
  await using log = createSqliteEventLog(newPath());
  const child = spawn(process.execPath, ["-e", ""]);
  await once(child, "exit");
  const dead = processOwner().replace(/^\d+/, String(child.pid));
  const first = await log.acquire(LOG, { owner: dead, ttlMs: 1e9 });
  const second = await log.acquire(LOG, { owner: "4711@elsewhere:1:2:3", ttlMs: 1e9 });
  expect(second.epoch).toBeGreaterThan(first.epoch);
  await expect(log.acquire(LOG, { owner: processOwner(), ttlMs: 1e9 })).rejects.toSatisfy((error) => LogError.is(error, "lease-held"));
});

it("releases its leases when it is disposed of, though others keep the file open", async () => {
  const path = newPath();
  await using other = createSqliteEventLog(path);
  const log = createSqliteEventLog(path);
  await log.acquire(LOG, { owner: "first", ttlMs: 1e9 });
  await log[Symbol.asyncDispose]();
  await other.acquire(LOG, { owner: "second", ttlMs: 1e9 });
});

it("names the record that is damaged or missing, and gives those before it", async () => {
  for (const [damage, reason] of [
    ["UPDATE appends SET data = '[{\"cut' WHERE names LIKE '%\"c\"%'", "no JSON list of 2"],
    ["UPDATE appends SET data = '[{}]' WHERE names LIKE '%\"c\"%'", "no JSON list of 2"],
    ["UPDATE appends SET names = '[\"c\",1]' WHERE names LIKE '%\"c\"%'", "names"],
    ["DELETE FROM appends WHERE names LIKE '%\"c\"%'", "record 3 is missing"],
  ] as const) {
    const path = newPath();
    await using log = createSqliteEventLog(path);
    let head = 0;
    for (const keys of ["ab", "cd", "e"]) head = (await log.append(LOG, head, recordsWith(...keys))).seq;
    const raw = new DatabaseSync(path);
    raw.exec(damage);
    raw.close();
    const seen: string[] = [];
    const read = (async () => {
      for await (const { key } of log.read(LOG)) seen.push(key);
    })();
    await expect(read).rejects.toSatisfy(
      (error) => LogError.is(error, "corrupt") && error.failure.seq === 3 && error.message.includes(reason),
    );
    expect(seen).toEqual(["a", "b"]);
  }
});

it("refuses a key that another process has taken meanwhile, and one that stood before this process looked", async () => {
  const path = newPath();
  await using log = createSqliteEventLog(path);
  await log.append(LOG, 0, recordsWith("a", "b"));
  // A connection of its own, as another process has it.
  const raw = new DatabaseSync(path);
  raw.exec(`INSERT INTO appends (place, at, records, names, data) VALUES (1 << 36 | 3, 5, 2, '["c","t","d","t"]', '[{},{}]')`);
  raw.close();
  await expect(log.append(LOG, 4, recordsWith("e", "d"))).rejects.toSatisfy(
    (error) => LogError.is(error, "conflict") && error.failure.actualSeq === 4,
  );
  // What failed has not taken its keys.
  expect(await log.append(LOG, 4, recordsWith("e"))).toMatchObject({ seq: 5 });
  expect(await log.append(LOG, "any", recordsWith("c", "f", "e"))).toMatchObject({ seq: 5 });
  await log[Symbol.asyncDispose]();
  await using later = createSqliteEventLog(path);
  await expect(later.append(LOG, 6, recordsWith("b"))).rejects.toSatisfy(
    (error) => LogError.is(error, "conflict") && error.failure.actualSeq === 2,
  );
});

it("has the database refuse a key that a log has taken, whoever writes to it", async () => {
  const path = newPath();
  await using log = createSqliteEventLog(path);
  await log.append(LOG, 0, recordsWith("a", "b"));
  await log.append("other" as LogId, 0, recordsWith("a"));
  const raw = new DatabaseSync(path);
  const add = raw.prepare("INSERT INTO appends (place, at, records, names, data) VALUES (1 << 36 | 3, 5, 2, ?, '[{},{}]')");
  expect(() => add.run('["c","t","b","t"]')).toThrow(/UNIQUE constraint failed/);
  add.run('["c","t","d","t"]');
  raw.close();
  expect(await log.head(LOG)).toBe(4);
  // A log that is made anew under its name has taken none.
  await log.delete(LOG);
  expect(await log.append(LOG, 0, recordsWith("b", "a"))).toMatchObject({ seq: 2 });
});

it("refuses the keys of each of many logs, whatever letters they have", async () => {
  await using log = createSqliteEventLog(newPath());
  const names = Array.from({ length: 150 }, (_, index) => `log/${index}` as LogId);
  const keys = ['a"b', "\\u0061", "ö\n", "plain"];
  for (const name of names) await log.append(name, 0, recordsWith(...keys));
  for (const name of names) {
    for (const [index, key] of keys.entries())
      await expect(log.append(name, keys.length, recordsWith(key))).rejects.toSatisfy(
        (error) => LogError.is(error, "conflict") && error.failure.actualSeq === index + 1,
      );
    expect(await log.append(name, keys.length, recordsWith("a", "b", "pla"))).toMatchObject({ seq: 7 });
  }
});

it("gives a reader the rest of an append, wherever it begins", async () => {
  await using log = createSqliteEventLog(newPath());
  await log.append(LOG, 0, recordsWith("a", "b", "c"));
  await log.append(LOG, 3, recordsWith("d"));
  // So long that each has a row of its own.
  const long = { text: "x".repeat(600_000) };
  await log.append(LOG, 4, [
    { key: "e", type: "t", data: long },
    { key: "f", type: "u", data: long },
  ]);
  const all = ["a", "b", "c", "d", "e", "f"];
  for (let after = 0; after <= all.length; after++) {
    const seen: LogRecord[] = [];
    for await (const record of log.read(LOG, { after })) seen.push(record);
    expect(seen.map(({ key }) => key)).toEqual(all.slice(after));
    expect(seen.map(({ seq }) => seq)).toEqual(all.slice(after).map((_, index) => after + index + 1));
    if (after === 4)
      expect(seen.map(({ type, data }) => [type, data])).toEqual([
        ["t", long],
        ["u", long],
      ]);
  }
});

it("has room for more logs than JavaScript's numbers have places", async () => {
  const path = newPath();
  await using log = createSqliteEventLog(path);
  await log.append("first" as LogId, 0, [{ key: "k", type: "t", data: {} }]);
  const raw = new DatabaseSync(path);
  raw.exec("UPDATE sqlite_sequence SET seq = 100000000 WHERE name = 'logs'");
  raw.close();
  expect(
    await log.append(LOG, 0, [
      { key: "a", type: "t", data: {} },
      { key: "b", type: "t", data: {} },
    ]),
  ).toMatchObject({ seq: 2 });
  expect(await log.append(LOG, 2, [{ key: "c", type: "t", data: {} }])).toMatchObject({ seq: 3 });
  expect(await log.append("later" as LogId, 0, [{ key: "a", type: "t", data: {} }])).toMatchObject({ seq: 1 });
  const keys: string[] = [];
  for await (const { key } of log.read(LOG, { after: 1 })) keys.push(key);
  expect(keys).toEqual(["b", "c"]);
  await log.delete(LOG);
  expect((await log.list()).map((info) => [info.log, info.head])).toEqual([
    ["first", 1],
    ["later", 1],
  ]);
});

it("refuses a record over its limit", async () => {
  await using log = createSqliteEventLog({ path: newPath(), maxRecordBytes: 100 });
  await expect(log.append(LOG, 0, [{ key: "a", type: "t", data: { text: "x".repeat(100) } }])).rejects.toSatisfy((error) =>
    LogError.is(error, "too-large"),
  );
  expect(await log.head(LOG)).toBe(0);
});
