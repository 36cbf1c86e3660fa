import { readdirSync, rmSync, statSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkSqliteDatabase, createFsStore, createSqliteEventLog } from "keelson/state";
import { afterAll, expect } from "vitest";
import { sampleSize } from "../../../../test/tier.ts";
import { describeKilledWriters } from "../processes/describe-killed-writers.ts";

const ROUNDS = sampleSize("kills of two processes that write to stores", { test: 2, ci: 6, soak: 500 });
const program = join(import.meta.dirname, "../processes/write-until-killed.ts");
const folder = await mkdtemp(join(tmpdir(), "keelson-store-processes-"));
afterAll(() => rmSync(folder, { recursive: true }));
const files = join(folder, "files");
const database = join(folder, "stores.db");

describeKilledWriters("a folder of files that two processes write to", {
  rounds: ROUNDS,
  open: () => ({ state: createFsStore(files), async [Symbol.asyncDispose]() {} }),
  program,
  args: () => ["file", files],
  // Who was killed before he wrote his name into the draft of a lock has left an empty one, which is removed when it is old.
  checkPlace: () =>
    expect(
      readdirSync(files, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.name.endsWith(".json"))
        .filter(({ parentPath, name }) => !/^\.lock\.[0-9a-f]{12}$/.test(name) || statSync(join(parentPath, name)).size > 0),
    ).toEqual([]),
});

describeKilledWriters("the state, blobs and ledger of a SQLite file that two processes write to", {
  rounds: ROUNDS,
  open: () => createSqliteEventLog(database),
  program,
  args: () => ["sqlite", database],
  checkPlace: () => expect(checkSqliteDatabase(database)).toEqual([]),
});
