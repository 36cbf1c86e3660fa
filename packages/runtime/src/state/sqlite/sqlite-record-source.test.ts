import type { LogId } from "@keelson/protocol";
import { expect, it } from "vitest";
import { openSqliteDatabase } from "./sqlite-database.ts";
import { createSqliteEventLog } from "./sqlite-event-log.ts";
import { createForeignWatch } from "./sqlite-foreign-watch.ts";
import { createSqliteRecordSource } from "./sqlite-record-source.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

it("reads a few records first and longer pages after them, which end behind much text", async () => {
  const folder = mkdtempSync(join(tmpdir(), "keelson-source-"));
  try {
    const path = join(folder, "sessions.db");
    const name = "session/a" as LogId;
    await using log = createSqliteEventLog(path);
    for (let index = 0; index < 600; index++) await log.append(name, index, [{ key: `k${index}`, type: "t", data: { index } }]);
    for (let index = 600; index < 603; index++)
      await log.append(name, index, [{ key: `k${index}`, type: "t", data: { text: "a".repeat(200_000) } }]);
    const database = openSqliteDatabase(path);
    const foreignWatch = createForeignWatch(database, {});
    const source = createSqliteRecordSource({ database, log: name, foreignWatch, assertOpen: () => undefined });
    const lengths: number[] = [];
    for (let read = 0; read < 603;) {
      const page = await source.page(read);
      expect(page[0]?.seq).toBe(read + 1);
      lengths.push(page.length);
      read += page.length;
    }
    expect(lengths).toEqual([8, 32, 128, 256, 178, 1]);
    foreignWatch.close();
    database.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
