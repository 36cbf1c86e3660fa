import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type EventLog, LogError, type LogId, type LogRecord } from "@keelson/protocol";
import { afterAll, describe, expect, it } from "vitest";
import { checkSqliteDatabase } from "./check-sqlite-database.ts";
import { createSqliteEventLog } from "./sqlite-event-log.ts";
import { migrate } from "./sqlite-schema.ts";

const folder = await mkdtemp(join(tmpdir(), "keelson-sealing-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const newPath = (): string => join(folder, `${++files}.db`);
const LOG = "session/a" as LogId;
const ALL = Number.MAX_SAFE_INTEGER;

async function fill(log: EventLog, count: number): Promise<void> {
  for (let n = await log.head(LOG); n < count; n++)
    await log.append(LOG, n, [{ key: `k${n}`, type: "note", data: { text: `${n} `.repeat(50) } }]);
}

/** What can be read, and the failure that ends it. */
async function readable(log: EventLog, after = 0): Promise<{ readonly records: readonly LogRecord[]; readonly error?: unknown }> {
  const records: LogRecord[] = [];
  try {
    for await (const record of log.read(LOG, { after })) records.push(record);
  } catch (error) {
    return { records, error };
  }
  return { records };
}

function change(path: string, ...statements: readonly string[]): void {
  using raw = new DatabaseSync(path);
  for (const statement of statements) raw.exec(statement);
}

function countOf(path: string, table: string): number {
  using raw = new DatabaseSync(path);
  return raw.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"] as number;
}

describe("a segment", () => {
  it("takes the place of the rows that it holds, but of the newest", async () => {
    const path = newPath();
    await using log = createSqliteEventLog(path);
    await fill(log, 1500);
    const { records } = await readable(log);
    expect(await log.seal(LOG, { before: ALL })).toMatchObject({ segments: 3, records: 1499 });
    expect([countOf(path, "appends"), countOf(path, "segments"), countOf(path, "keys")]).toEqual([1, 3, 1500]);
    await log[Symbol.asyncDispose]();
    await using again = createSqliteEventLog(path);
    expect(await readable(again)).toEqual({ records });
  });

  it("that is damaged is named with the records that can't be read, and those before it are given", async () => {
    const path = newPath();
    await using log = createSqliteEventLog(path);
    await fill(log, 1500);
    const { records } = await readable(log);
    await log.seal(LOG, { before: ALL });
    expect(checkSqliteDatabase(path)).toEqual([]);
    change(path, `UPDATE segments SET bytes = zeroblob(10) WHERE place = 1 << 36 | 513`);
    const { records: given, error } = await readable(log);
    expect(given).toEqual(records.slice(0, 512));
    expect(LogError.is(error, "corrupt") && [error.failure.seq, error.message]).toEqual([
      513,
      expect.stringMatching(/the segment that holds records 513 to 1024 .*What stands before it is intact/),
    ]);
    expect(await readable(log, 600)).toMatchObject({ records: [], error: { failure: { kind: "corrupt", seq: 513 } } });
    expect(await readable(log, 1024)).toEqual({ records: records.slice(1024) });
    // Whoever would compare with a record in it is told as well.
    const again = [{ key: "k600", type: "note", data: {} }];
    await expect(log.append(LOG, "any", again)).rejects.toMatchObject({ failure: { kind: "corrupt", seq: 513 } });
    expect(await log.append(LOG, "any", [{ key: "new", type: "note", data: {} }])).toMatchObject({ seq: 1501 });
    expect(checkSqliteDatabase(path)).toEqual([`the segment with records 513 to 1024 of log "${LOG}" is not what was sealed`]);
  });

  it("that is gone is missed where its records were", async () => {
    const path = newPath();
    await using log = createSqliteEventLog(path);
    await fill(log, 1500);
    await log.seal(LOG, { before: ALL });
    change(path, `DELETE FROM segments WHERE place = 1 << 36 | 513`);
    const { records, error } = await readable(log);
    expect(records).toHaveLength(512);
    expect(LogError.is(error, "corrupt") && error.message).toContain("record 513 is missing");
  });

  it("holds an append that is damaged as it is, and none behind one that is missing", async () => {
    const path = newPath();
    await using log = createSqliteEventLog(path);
    await fill(log, 300);
    change(path, `UPDATE appends SET data = '[{"cut' WHERE place = 1 << 36 | 100`, `DELETE FROM appends WHERE place = 1 << 36 | 200`);
    const before = [await readable(log), await readable(log, 100), await readable(log, 200)];
    expect(before.map(({ records }) => records.length)).toEqual([99, 99, 100]);
    expect(await log.seal(LOG, { before: ALL })).toMatchObject({ segments: 2, records: 298 });
    expect([await readable(log), await readable(log, 100), await readable(log, 200)]).toEqual(before);
    expect((await log.seal(LOG, { before: ALL })).records).toBe(0);
  });

  it("of large records ends behind each, and holds what is too little alone together with the next", async () => {
    const path = newPath();
    await using log = createSqliteEventLog(path);
    const sizes = [1, 2_000_000, 3_000_000, 1, 10, 2_000_000, 1];
    for (const [n, size] of sizes.entries()) await log.append(LOG, n, [{ key: `k${n}`, type: "note", data: { text: "x".repeat(size) } }]);
    expect(await log.seal(LOG, { before: ALL })).toMatchObject({ segments: 3, records: 6 });
    expect((await readable(log)).records.map(({ data }) => (data["text"] as string).length)).toEqual(sizes);
  });

  it("is made of files from before there were any, whose records nobody had indexed", async () => {
    const path = newPath();
    {
      using raw = new DatabaseSync(path);
      migrate(raw, path, 2);
      raw.exec(`INSERT INTO logs (id, name) VALUES (7, '${LOG}')`);
      const add = raw.prepare(`INSERT INTO records (place, log, at, key, type, data) VALUES (7 << 36 | ?1, 7, 5, ?2, 't', '{"n":1}')`);
      for (let seq = 1; seq <= 100; seq++) add.run(seq, `k${seq}`);
    }
    await using log = createSqliteEventLog(path);
    const { records } = await readable(log);
    expect(await log.seal(LOG, { before: ALL })).toMatchObject({ segments: 1, records: 99 });
    expect(await readable(log)).toEqual({ records });
    expect(await log.index.unindexed(1000)).toMatchObject([{ log: LOG, after: 0, upTo: 100 }]);
    expect(await log.append(LOG, 3, [{ key: "k4", type: "t", data: { n: 1 } }])).toEqual({ seq: 4, at: 5 });
  });

  it("goes with its log, also where a process deletes it that does not know of segments", async () => {
    const path = newPath();
    await using log = createSqliteEventLog(path);
    await log.append("session/other" as LogId, 0, [{ key: "k", type: "t", data: {} }]);
    await fill(log, 100);
    await log.seal(LOG, { before: ALL });
    change(path, `DELETE FROM logs WHERE name = '${LOG}'`);
    expect(countOf(path, "segments")).toBe(0);
  });

  it("is read on from where a reader was, whoever sealed it meanwhile", async () => {
    const path = newPath();
    await using log = createSqliteEventLog(path);
    await fill(log, 1000);
    const reader = log.read(LOG)[Symbol.asyncIterator]();
    const seqs: number[] = [];
    for (let n = 0; n < 300; n++) seqs.push(((await reader.next()).value as LogRecord).seq);
    await using other = createSqliteEventLog(path);
    await other.seal(LOG, { before: 600 });
    for (let next = await reader.next(); next.done !== true; next = await reader.next()) seqs.push(next.value.seq);
    expect(seqs).toEqual(Array.from({ length: 1000 }, (_, n) => n + 1));
  });

  it("is not made of what another has sealed or deleted while it was compressed", async () => {
    const path = newPath();
    await using log = createSqliteEventLog(path);
    await using other = createSqliteEventLog(path);
    await fill(log, 1000);
    const both = await Promise.all([log.seal(LOG, { before: ALL }), other.seal(LOG, { before: ALL })]);
    expect(both.reduce((sum, { records }) => sum + records, 0)).toBe(999);
    expect((await readable(log)).records).toHaveLength(1000);
    await fill(log, 2000);
    const sealing = log.seal(LOG, { before: ALL });
    await other.delete(LOG);
    await fill(other, 100);
    expect((await sealing).records).toBe(0);
    expect((await readable(log)).records).toHaveLength(100);
    expect(countOf(path, "segments")).toBe(0);
  });
});
