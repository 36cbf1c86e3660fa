import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type EventLog, LogError, type LogId, type LogRecord, type NewRecord, usd } from "@keelson/protocol";
import { afterAll, describe, expect, it, vi } from "vitest";
import { digestOf } from "../kit/blob-content.ts";
import { checkSqliteDatabase } from "./check-sqlite-database.ts";
import { openSqliteDatabase } from "./sqlite-database.ts";
import { createSqliteEventLog } from "./sqlite-event-log.ts";
import { migrate, SCHEMA_VERSION } from "./sqlite-schema.ts";
import { createSqliteStore } from "./sqlite-store.ts";

// Many small files are made and synced here, which takes a busy machine a while.
vi.setConfig({ testTimeout: 60_000 });

const folder = await mkdtemp(join(tmpdir(), "keelson-database-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const newPath = (): string => join(folder, `${++files}.db`);
const LOG = "session/a" as LogId;

async function fill(log: EventLog, count: number, text = "x".repeat(500)): Promise<void> {
  const head = await log.head(LOG);
  await log.append(
    LOG,
    head,
    Array.from({ length: count }, (_, n) => ({ key: `k${head + n}`, type: "t", data: { text } })),
  );
}

function failureOf(action: () => unknown): LogError["failure"] {
  try {
    action();
  } catch (error) {
    if (LogError.is(error)) return error.failure;
    throw error;
  }
  throw new Error("It succeeded, though it should have thrown a LogError.");
}

async function rejection(action: Promise<unknown>): Promise<LogError["failure"]> {
  const error: unknown = await action.then(
    () => new Error("It resolved."),
    (reason: unknown) => reason,
  );
  if (!LogError.is(error)) throw error;
  return error.failure;
}

async function count(log: EventLog): Promise<number> {
  let records = 0;
  for await (const { data } of log.read(LOG)) if (typeof data["text"] === "string") records += 1;
  return records;
}

describe("the file", () => {
  it("is made for its owner's eyes only, with its folders, its write-ahead log and index alike", async () => {
    const path = join(folder, "new", "folder", "sessions.db");
    await using log = createSqliteEventLog(path);
    await fill(log, 1);
    for (const file of [path, `${path}-wal`, `${path}-shm`]) expect(statSync(file).mode & 0o777, file).toBe(0o600);
    expect(statSync(join(folder, "new")).mode & 0o777).toBe(0o700);
  });

  it("is one connection for all stores of a process, by whatever path they come, until the last one closes", async () => {
    const path = newPath();
    const first = openSqliteDatabase(path);
    symlinkSync(path, `${path}.symlink`);
    linkSync(path, `${path}.hardlink`);
    for (const other of [path, `${path}.symlink`, `${path}.hardlink`]) {
      const again = openSqliteDatabase(other);
      expect(again).toBe(first);
      again.close();
    }
    expect(first.connection.isOpen).toBe(true);
    first.close();
    expect(first.connection.isOpen).toBe(false);
    expect(existsSync(`${path}-wal`)).toBe(false);
    // A new file at the old path is another database.
    const before = openSqliteDatabase(path);
    rmSync(path);
    const after = openSqliteDatabase(path);
    expect(after).not.toBe(before);
    before.close();
    after.close();
  });

  it("is opened without loading SQLite before it is needed", () => {
    const script = `
      await import(${JSON.stringify(new URL("../index.ts", import.meta.url).href)});
      const loaded = () => process.moduleLoadList.some((name) => name.includes("sqlite"));
      console.log(loaded());
      const { createSqliteEventLog } = await import(${JSON.stringify(new URL("../index.ts", import.meta.url).href)});
      await createSqliteEventLog(${JSON.stringify(newPath())})[Symbol.asyncDispose]();
      console.log(loaded());`;
    const { stdout, stderr } = spawnSync(process.execPath, ["--conditions=source", "--input-type=module", "-e", script], {
      encoding: "utf8",
    });
    expect([stdout, stderr]).toEqual(["false\ntrue\n", ""]);
  });

  it("can't be a folder, nor lie where nobody may write", () => {
    expect(failureOf(() => createSqliteEventLog(folder))).toMatchObject({
      kind: "invalid-input",
      message: expect.stringContaining("not a file"),
    });
    expect(failureOf(() => createSqliteEventLog(""))).toMatchObject({ kind: "invalid-input" });
    const file = newPath();
    writeFileSync(file, "x");
    expect(failureOf(() => createSqliteEventLog(join(file, "below.db")))).toMatchObject({
      kind: "other",
      message: expect.stringContaining("choose another path"),
    });
  });

  it.runIf(process.platform === "linux")("says what to check when this user may not write to it", async () => {
    const place = join(folder, "guarded");
    mkdirSync(place);
    const path = join(place, "read-only.db");
    await createSqliteEventLog(path)[Symbol.asyncDispose]();
    chmodSync(folder, 0o755);
    chmodSync(place, 0o755);
    chmodSync(path, 0o444);
    const script = `
      const { createSqliteEventLog } = await import(${JSON.stringify(new URL("../index.ts", import.meta.url).href)});
      if (process.getuid() === 0) process.setuid(65534);
      for (const path of ${JSON.stringify([path, join(place, "new.db")])}) try { createSqliteEventLog(path); } catch (error) { console.log(error.failure.kind, error.message); }`;
    const { stdout, stderr } = spawnSync(process.execPath, ["--conditions=source", "--input-type=module", "-e", script], {
      encoding: "utf8",
    });
    expect(stdout, stderr).toMatch(
      /^other .*read-only\.db can't be opened for writing: EACCES.*Check the permissions.*\nother .*new\.db can't be opened for writing: EACCES/,
    );
  });
});

describe("the schema's version", () => {
  it("is refused when it is newer, and the file stays as it is", async () => {
    const path = newPath();
    const log = createSqliteEventLog(path);
    await fill(log, 1);
    await log[Symbol.asyncDispose]();
    const raw = new DatabaseSync(path);
    raw.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
    raw.close();
    const before = readFileSync(path);
    expect(failureOf(() => createSqliteEventLog(path))).toMatchObject({
      kind: "invalid-input",
      message: expect.stringContaining("Update Keelson"),
    });
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it("is not written over another program's database", () => {
    const path = newPath();
    const raw = new DatabaseSync(path);
    raw.exec("CREATE TABLE theirs (x)");
    raw.close();
    const before = readFileSync(path);
    expect(failureOf(() => createSqliteEventLog(path))).toMatchObject({
      kind: "invalid-input",
      message: expect.stringContaining("another program"),
    });
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it("is brought up to date from any earlier one, and from a database without content", async () => {
    const path = newPath();
    const raw = new DatabaseSync(path);
    raw.exec("PRAGMA journal_mode = WAL");
    raw.close();
    await using log = createSqliteEventLog(path);
    await fill(log, 1);
    expect(await count(log)).toBe(1);
  });

  it("knows which keys are taken in files from before the database did, also where some can't be read", async () => {
    const path = newPath();
    const raw = new DatabaseSync(path);
    migrate(raw, path, 3);
    raw.exec(`
      INSERT INTO logs (id, name) VALUES (7, '${LOG}');
      INSERT INTO appends (place, at, records, names, data) VALUES (7 << 36 | 1, 5, 2, '["k0","t","k1","t"]', '[{},{}]'), (7 << 36 | 3, 6, 1, '["k2', '[{}]')`);
    raw.close();
    await using log = createSqliteEventLog(path);
    const record = (key: string): NewRecord => ({ key, type: "t", data: {} });
    expect(await log.append(LOG, 0, [record("k0"), record("k1")])).toEqual({ seq: 2, at: 5 });
    for (const [seq, key] of [
      [1, "k0"],
      [2, "k1"],
    ] as const)
      await expect(log.append(LOG, 3, [record("new"), record(key)])).rejects.toSatisfy(
        (error) => LogError.is(error, "conflict") && error.failure.actualSeq === seq,
      );
    expect(await log.append(LOG, 3, [record("new")])).toMatchObject({ seq: 4 });
  });

  it("keeps the records of files from before appends had rows of their own", async () => {
    const path = newPath();
    const raw = new DatabaseSync(path);
    migrate(raw, path, 2);
    raw.exec(`
      INSERT INTO logs (id, name) VALUES (7, '${LOG}');
      INSERT INTO records (place, log, at, key, type, data) VALUES (7 << 36 | 1, 7, 5, 'k"0', 't', '{"text":"a"}'), (7 << 36 | 2, 7, 6, 'k1', 't', '{"text":"b"}')`);
    raw.close();
    await using log = createSqliteEventLog(path);
    expect(await log.list()).toEqual([{ log: LOG, head: 2, updatedAt: 6 }]);
    const records: LogRecord[] = [];
    for await (const record of log.read(LOG)) records.push(record);
    expect(records).toEqual([
      { seq: 1, at: 5, key: 'k"0', type: "t", data: { text: "a" } },
      { seq: 2, at: 6, key: "k1", type: "t", data: { text: "b" } },
    ]);
    for (const [seq, key] of [
      [1, 'k"0'],
      [2, "k1"],
    ] as const)
      await expect(log.append(LOG, 2, [{ key, type: "t", data: {} }])).rejects.toThrow(`already taken by record ${seq}`);
    expect(await log.append(LOG, 2, [{ key: "k2", type: "t", data: { text: "c" } }])).toMatchObject({ seq: 3 });
  });

  it("comes with the file, which leaves nothing else behind in its folder", async () => {
    const path = join(folder, "alone", "sessions.db");
    await createSqliteEventLog(path)[Symbol.asyncDispose]();
    expect(readdirSync(join(folder, "alone"))).toEqual(["sessions.db"]);
  });
});

describe("a damaged file", () => {
  async function filledFile(): Promise<{ readonly path: string; readonly size: number }> {
    const path = newPath();
    const log = createSqliteEventLog(path);
    for (let appends = 0; appends < 100; appends++) await fill(log, 4);
    await log[Symbol.asyncDispose]();
    return { path, size: statSync(path).size };
  }

  /** What a reader is told: the records, or the failure. Never fewer records than there were. */
  async function look(path: string): Promise<number | LogError["failure"]> {
    let log: EventLog;
    try {
      log = createSqliteEventLog(path);
    } catch (error) {
      if (LogError.is(error)) return error.failure;
      throw error;
    }
    try {
      return await count(log);
    } catch (error) {
      if (LogError.is(error)) return error.failure;
      throw error;
    } finally {
      await log[Symbol.asyncDispose]();
    }
  }

  it("is named as damaged wherever it was cut off, with what to do, and left as it is", async () => {
    const { path, size } = await filledFile();
    const whole = readFileSync(path);
    for (const length of [1, 99, 100, 1000, 4096, 4097, Math.floor(size / 2), size - 4096, size - 1]) {
      const cut = newPath();
      writeFileSync(cut, whole.subarray(0, length));
      const seen = await look(cut);
      expect(seen, `cut at ${length} of ${size}`).toMatchObject({
        kind: "corrupt",
        message: expect.stringMatching(/Restore .* from a backup/),
      });
      expect(readFileSync(cut).equals(whole.subarray(0, length)), `cut at ${length} of ${size}`).toBe(true);
    }
  });

  it("is named as damaged when it is no database, or a page of it is overwritten", async () => {
    const text = newPath();
    writeFileSync(text, "This is a note, not a database. ".repeat(500));
    expect(await look(text)).toMatchObject({ kind: "corrupt" });
    const { path, size } = await filledFile();
    const whole = readFileSync(path);
    for (let page = 0; page * 4096 < size; page++) {
      const bad = newPath();
      writeFileSync(bad, Buffer.concat([whole.subarray(0, page * 4096), Buffer.alloc(4096, 0xa5), whole.subarray((page + 1) * 4096)]));
      const seen = await look(bad);
      // Pages that a reader of records does not visit (indexes, counters) may be found later, but no record may be missing.
      if (seen !== 400) expect(seen, `page ${page}`).toMatchObject({ kind: "corrupt" });
    }
  });

  it("is a new one if the file is empty, and is opened by two processes like one", async () => {
    const empty = newPath();
    writeFileSync(empty, "");
    expect(checkSqliteDatabase(empty)).toEqual([]);
    {
      await using log = createSqliteEventLog(empty);
      await using other = createSqliteEventLog(empty);
      await fill(log, 3);
      expect(await count(other)).toBe(3);
    }
    await using again = createSqliteEventLog(empty);
    expect(await count(again)).toBe(3);
    const store = newPath();
    writeFileSync(store, "");
    writeFileSync(`${store}-wal`, "");
    await using states = createSqliteStore(store);
    await states.write({ type: "global" }, "key", { a: 1 });
    expect((await states.read({ type: "global" }, "key"))?.value).toEqual({ a: 1 });
  });

  it("is not taken for a new one if the file is empty and its write-ahead log is not", async () => {
    const path = newPath();
    await using log = createSqliteEventLog(path);
    await fill(log, 10);
    const copy = newPath();
    writeFileSync(`${copy}-wal`, readFileSync(`${path}-wal`));
    writeFileSync(copy, "");
    expect(failureOf(() => createSqliteEventLog(copy))).toMatchObject({ kind: "corrupt" });
    expect(statSync(`${copy}-wal`).size).toBeGreaterThan(0);
  });

  it("loses no more than the torn end of its write-ahead log", async () => {
    const path = newPath();
    await using log = createSqliteEventLog(path);
    for (let n = 0; n < 20; n++) await fill(log, 1);
    const wal = readFileSync(`${path}-wal`);
    for (const lost of [1, 24, 4096, 10_000]) {
      const copy = newPath();
      writeFileSync(copy, readFileSync(path));
      writeFileSync(`${copy}-wal`, wal);
      truncateSync(`${copy}-wal`, wal.length - lost);
      await using torn = createSqliteEventLog(copy);
      const records = await count(torn);
      expect(records).toBeGreaterThan(14);
      expect(records).toBeLessThan(20);
      expect(await torn.head(LOG)).toBe(records);
    }
  });
});

describe("a full disk", () => {
  it("keeps nothing of the append that did not fit, and goes on when there is space again", async () => {
    const path = newPath();
    await using log = createSqliteEventLog(path);
    await fill(log, 20);
    const database = openSqliteDatabase(path);
    const pages = database.connection.prepare("PRAGMA page_count").get()?.["page_count"] as number;
    database.connection.exec(`PRAGMA max_page_count = ${pages + 3}`);
    for (const durability of ["process", "power"] as const) {
      const failure = await rejection(
        log.append(
          LOG,
          20,
          Array.from({ length: 5 }, (_, n) => ({ key: `n${n}`, type: "t", data: { text: "y".repeat(n < 4 ? 10 : 100_000) } })),
          { durability },
        ),
      );
      expect(failure).toMatchObject({ kind: "full", message: expect.stringContaining("Free space") });
      expect(await count(log)).toBe(20);
    }
    await fill(log, 1, "fits");
    database.connection.exec("PRAGMA max_page_count = 100000");
    await log.append(LOG, 21, [{ key: "n0", type: "t", data: { text: "y".repeat(100_000) } }]);
    expect(await count(log)).toBe(22);
    database.close();
  });

  it("keeps nothing of a blob or a reservation that did not fit either, says so, and takes both when there is space again", async () => {
    const path = newPath();
    await using log = createSqliteEventLog(path);
    const small = await log.blobs.put(Buffer.from("small"));
    await log.ledger.reserve("before", [{ id: "run" }], usd("1"));
    await log.ledger.settle("before", usd("1"));
    const database = openSqliteDatabase(path);
    const limit = (pages: number): void => database.connection.exec(`PRAGMA max_page_count = ${pages}`);
    const pages = database.connection.prepare("PRAGMA page_count").get()?.["page_count"] as number;
    limit(pages);
    const large = Buffer.alloc(100_000, "y");
    expect(await rejection(log.blobs.put(large))).toMatchObject({ kind: "full", message: expect.stringContaining("Free space") });
    const names = Array.from({ length: 200 }, (_, n) => ({ id: `${n} ${"z".repeat(200)}` }));
    expect(await rejection(log.ledger.reserve("large", names, usd("1")))).toMatchObject({ kind: "full" });
    expect(Buffer.from(await log.blobs.get(small)).toString()).toBe("small");
    expect(await rejection(log.blobs.get(digestOf(large)))).toMatchObject({ kind: "not-found" });
    expect(await log.ledger.used(names[0]?.id ?? "")).toMatchObject({ cost: "0" });
    limit(100_000);
    expect(await log.blobs.put(large)).toBe(digestOf(large));
    expect(await log.ledger.reserve("large", names, usd("1"))).toMatchObject({ type: "reserved" });
    expect(await log.ledger.used("run")).toMatchObject({ cost: "1" });
    database.close();
  });

  it("is survived on a real file system without space", async (context) => {
    const mount = join(folder, "tiny");
    mkdirSync(mount);
    if (spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", mount]).status !== 0) return context.skip("mounting needs privileges");
    try {
      const path = join(mount, "full.db");
      const log = createSqliteEventLog(path);
      let kept = 0;
      let failure: LogError["failure"] | undefined;
      while (failure === undefined && kept < 10_000) {
        try {
          await fill(log, 3);
          kept += 3;
        } catch (error) {
          if (!LogError.is(error)) throw error;
          failure = error.failure;
        }
      }
      expect(failure).toMatchObject({ kind: "full" });
      expect(await count(log)).toBe(kept);
      // There is no space for closing's checkpoint either, and still nothing is lost.
      await log[Symbol.asyncDispose]();
      await using again = createSqliteEventLog(path);
      expect(await count(again)).toBe(kept);
    } finally {
      spawnSync("umount", [mount]);
    }
  });
});

describe("a locked file", () => {
  it("lets the event loop run while it waits, and keeps the order of appends", async () => {
    const path = newPath();
    await using log = createSqliteEventLog(path);
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    const settled: number[] = [];
    const append = (n: number): Promise<unknown> =>
      log.append(LOG, n, [{ key: `k${n}`, type: "t", data: { text: "" } }]).then(({ seq }) => settled.push(seq));
    const appends = [0, 1, 2, 3].map(append);
    // Reached while the first append waits, since that one returned instead of blocking on.
    expect(await count(log)).toBe(0);
    other.exec("COMMIT");
    other.close();
    // The lock is free, yet this one is not first in line.
    await Promise.all([...appends, append(4)]);
    expect(settled).toEqual([1, 2, 3, 4, 5]);
    expect(await count(log)).toBe(5);
  });

  it("gives up after a while with a failure that may be retried, having kept nothing", async () => {
    const path = newPath();
    await using log = createSqliteEventLog({ path, busyTimeoutMs: 1 });
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    const error: unknown = await log.append(LOG, 0, [{ key: "k", type: "t", data: {} }]).catch((reason: unknown) => reason);
    expect(LogError.is(error, "unavailable") && error.retryable).toBe(true);
    other.exec("COMMIT");
    other.close();
    expect(await log.append(LOG, 0, [{ key: "k", type: "t", data: {} }])).toMatchObject({ seq: 1 });
  });

  it("rejects what still waited for the lock when it was closed", async () => {
    const path = newPath();
    const log = createSqliteEventLog(path);
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    const waiting = rejection(log.append(LOG, 0, [{ key: "k", type: "t", data: {} }]));
    await log[Symbol.asyncDispose]();
    expect(await waiting).toMatchObject({ kind: "closed" });
    other.exec("COMMIT");
    other.close();
  });
});
