import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LogId } from "@keelson/protocol";
import { afterAll, describe, expect, it } from "vitest";
import { checkSqliteDatabase } from "./check-sqlite-database.ts";
import { createSqliteEventLog } from "./sqlite-event-log.ts";

const folder = mkdtempSync(join(tmpdir(), "keelson-check-"));
afterAll(() => rmSync(folder, { recursive: true }));

const ID = "session/s" as LogId;
/** A database with many records; `-wal` holds the newest, as after a crash. */
async function written(name: string): Promise<string> {
  const path = join(folder, `${name}-source.db`);
  const log = createSqliteEventLog(path);
  const record = (n: number) => ({ key: `k${n}`, type: "note", data: { text: `${n} `.repeat(400) } });
  for (let n = 0; n < 100; n++) await log.append(ID, n, [record(n)]);
  await log[Symbol.asyncDispose]();
  const later = createSqliteEventLog(path);
  for (let n = 100; n < 120; n++) await later.append(ID, n, [record(n)]);
  const copy = join(folder, `${name}.db`);
  for (const suffix of ["", "-wal"]) copyFileSync(`${path}${suffix}`, `${copy}${suffix}`);
  await later[Symbol.asyncDispose]();
  return copy;
}

async function readable(path: string): Promise<number> {
  await using log = createSqliteEventLog(path);
  let count = 0;
  for await (const { key } of log.read(ID)) expect(key).toBe(`k${count++}`);
  return count;
}

describe("a database file", () => {
  it("that is whole, or not there, has no problems", async () => {
    const path = await written("whole");
    expect(checkSqliteDatabase(path)).toEqual([]);
    expect(await readable(path)).toBe(120);
    expect(checkSqliteDatabase(join(folder, "nowhere.db"))).toEqual([]);
  });

  it("whose pages were overwritten has problems, and so has what is none", async () => {
    const path = await written("overwritten");
    const bytes = readFileSync(path);
    bytes.fill(0x5a, 4096 * 12, 4096 * 20);
    writeFileSync(path, bytes);
    rmSync(`${path}-wal`);
    expect(checkSqliteDatabase(path)).not.toEqual([]);
    writeFileSync(path, "no database at all, but as long as one may be ".repeat(100));
    expect(checkSqliteDatabase(path)).toEqual([expect.stringContaining("not a database")]);
  });

  it("that lost its -wal is as it was when that was last taken into it, which no check can tell", async () => {
    const path = await written("lost");
    rmSync(`${path}-wal`);
    expect(checkSqliteDatabase(path)).toEqual([]);
    expect(await readable(path)).toBe(100);
  });

  it("whose -wal was cut or damaged keeps all appends before that place, whole, and none behind it", async () => {
    for (const damage of ["cut", "overwritten"]) {
      const path = await written(`wal-${damage}`);
      const wal = readFileSync(`${path}-wal`);
      const middle = Math.floor(wal.length / 2);
      if (damage === "cut") writeFileSync(`${path}-wal`, wal.subarray(0, middle));
      else writeFileSync(`${path}-wal`, wal.fill(0x5a, middle, middle + 100));
      expect(checkSqliteDatabase(path)).toEqual([]);
      const count = await readable(path);
      expect(count).toBeGreaterThan(100);
      expect(count).toBeLessThan(120);
    }
  });
});
