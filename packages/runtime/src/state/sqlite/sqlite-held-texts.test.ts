import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { EventLog, LogId } from "@keelson/protocol";
import { afterAll, describe, expect, it } from "vitest";
import { createSqliteEventLog, type SqliteEventLog } from "./sqlite-event-log.ts";

const folder = mkdtempSync(join(tmpdir(), "keelson-texts-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const newPath = (): string => join(folder, `${++files}.db`);
const LOG = "session/a" as LogId;

/** One record with each append, as the holder of the lease. */
async function appendTexts(log: EventLog, texts: readonly string[]): Promise<void> {
  const { epoch } = await log.acquire(LOG, { owner: "me", ttlMs: 1_000_000 });
  for (const [index, text] of texts.entries())
    await log.append(LOG, index, [{ key: `k${index}`, type: "t", data: {} }], { epoch, texts: [text] });
}

const found = async ({ index }: SqliteEventLog, query: string) =>
  (await index.search(query, { limit: 1000 })).map(({ seq }) => seq).toSorted((a, b) => a - b);

/** How many pieces the index in the file is made of: each search looks at all of them. */
function piecesIn(path: string): number {
  using database = new DatabaseSync(path);
  return database.prepare("SELECT count(DISTINCT segid) AS pieces FROM log_text_idx").get()?.["pieces"] as number;
}

/** What the file holds, without a log that might add to it. */
function indexedIn(path: string): unknown {
  const database = new DatabaseSync(path);
  const row = database.prepare("SELECT (SELECT count(*) FROM log_text) AS texts, (SELECT count(*) FROM unindexed) AS waiting").get();
  database.close();
  return { ...row };
}

describe("the words of appends", () => {
  it("go to the index together: with a search, when the log is closed, or when there are enough of them", async () => {
    const path = newPath();
    {
      await using log = createSqliteEventLog(path);
      await appendTexts(log, ["one word", "", "another word"]);
      expect(indexedIn(path)).toEqual({ texts: 0, waiting: 2 });
      expect(await found(log, "word")).toEqual([1, 3]);
      expect(indexedIn(path)).toEqual({ texts: 2, waiting: 0 });
      await log.append(LOG, 3, [{ key: "last", type: "t", data: {} }], { texts: ["the last word"] });
    }
    expect(indexedIn(path)).toEqual({ texts: 3, waiting: 0 });

    const many = newPath();
    await using log = createSqliteEventLog(many);
    await appendTexts(
      log,
      Array.from({ length: 65 }, () => "word"),
    );
    expect(indexedIn(many)).toEqual({ texts: 64, waiting: 1 });

    const large = newPath();
    await using second = createSqliteEventLog(large);
    await appendTexts(second, ["word ".repeat(30_000), "word"]);
    expect(indexedIn(large)).toEqual({ texts: 1, waiting: 1 });
  });

  it("are merged by those who add them, a few pages at a time", async () => {
    const path = newPath();
    await using log = createSqliteEventLog(path);
    await appendTexts(
      log,
      Array.from({ length: 15 * 64 }, (_, index) => `word number${index}`),
    );
    // FTS5 by itself would wait for a sixteenth one, and then merge all.
    expect(piecesIn(path)).toBe(15);
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(piecesIn(path)).toBeLessThan(8);
    expect(await found(log, "number959")).toEqual([960]);

    const little = newPath();
    for (let process = 0; process < 15; process++) {
      await using brief = createSqliteEventLog(little);
      await brief.append(LOG, process, [{ key: `k${process}`, type: "t", data: {} }], { texts: ["word"] });
    }
    expect(piecesIn(little)).toBeLessThan(8);

    const imported = newPath();
    await using other = createSqliteEventLog(imported);
    const count = 15;
    for (let index = 0; index < count; index++) await other.append(LOG, index, [{ key: `k${index}`, type: "t", data: {} }]);
    const [stretch] = await other.index.unindexed(count);
    if (stretch !== undefined)
      for (let seq = 1; seq <= count; seq++)
        await other.index.add({ ...stretch, after: seq - 1, upTo: seq }, [{ seq, text: "a ".repeat(9000) }]);
    expect(piecesIn(imported)).toBeLessThan(8);
  });

  it("are added by whoever searches, where this process has not, and once", async () => {
    const path = newPath();
    await using log = createSqliteEventLog(path);
    await using other = createSqliteEventLog(path);
    await appendTexts(log, ["harbour", "map of the harbour"]);
    expect(await found(other, "harbour")).toEqual([]);
    const [records, ...more] = await other.index.unindexed(10);
    expect([records, more]).toMatchObject([{ log: LOG, after: 0, upTo: 2 }, []]);
    if (records !== undefined)
      await other.index.add(records, [
        { seq: 1, text: "as they read it" },
        { seq: 2, text: "harbour as they read it" },
      ]);
    // What is held comes too late, and changes nothing.
    expect(await found(log, "harbour")).toEqual([2]);
    expect(indexedIn(path)).toEqual({ texts: 2, waiting: 0 });
  });

  it("of a log that is deleted meanwhile are not those of one that is made anew under its name", async () => {
    const path = newPath();
    await using log = createSqliteEventLog(path);
    await using other = createSqliteEventLog(path);
    await appendTexts(log, ["gone"]);
    await other.delete(LOG);
    await other.append(LOG, 0, [{ key: "new", type: "t", data: {} }], { texts: ["here"] });
    expect([await found(log, "gone"), await found(other, "here")]).toEqual([[], [1]]);
  });

  it("keep nobody waiting and are not lost where the file is in use", async () => {
    const path = newPath();
    {
      await using log = createSqliteEventLog({ path, busyTimeoutMs: 0 });
      await appendTexts(log, ["word"]);
      using locked = new DatabaseSync(path);
      locked.exec("BEGIN IMMEDIATE");
      // It finds what is in the index, and says by what is missing that this is not all.
      expect(await found(log, "word")).toEqual([]);
      expect(await log.index.unindexed(10)).toMatchObject([{ log: LOG, after: 0, upTo: 1 }]);
      locked.exec("ROLLBACK");
    }
    expect(indexedIn(path)).toEqual({ texts: 0, waiting: 1 });
  });
});
