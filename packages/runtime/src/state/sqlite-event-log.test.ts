import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { LogError, type LogId, type LogRecord } from "@keelson/protocol";
import { afterAll, expect, it } from "vitest";
import { describeEventLog } from "../testing/event-log-contract.ts";
import { processOwner } from "./process-owner.ts";
import { openSqliteDatabase } from "./sqlite-database.ts";
import { createSqliteEventLog } from "./sqlite-event-log.ts";

const folder = await mkdtemp(join(tmpdir(), "keelson-log-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const newPath = (): string => join(folder, `${++files}.db`);
const LOG = "session/a" as LogId;

describeEventLog("createSqliteEventLog", (now) => createSqliteEventLog({ path: newPath(), now }));

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
      `INSERT INTO records (place, log, at, key, type, data) VALUES ((SELECT id FROM logs) << 36 | ${seq}, (SELECT id FROM logs), 5, 'k${seq}', 't', '{}')`,
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
  other.exec("DELETE FROM logs; DELETE FROM records");
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
    ["UPDATE records SET data = '{\"cut' WHERE key = 'c'", "no JSON"],
    ["DELETE FROM records WHERE key = 'c'", "missing"],
  ] as const) {
    const path = newPath();
    await using log = createSqliteEventLog(path);
    await log.append(
      LOG,
      0,
      ["a", "b", "c", "d"].map((key) => ({ key, type: "t", data: {} })),
    );
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
  ).toBe(2);
  expect(await log.append(LOG, 2, [{ key: "c", type: "t", data: {} }])).toBe(3);
  expect(await log.append("later" as LogId, 0, [{ key: "a", type: "t", data: {} }])).toBe(1);
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
