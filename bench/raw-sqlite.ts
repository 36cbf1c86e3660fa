// The floor of a persisted turn: the loop of `raw`, with each message a committed row before it is acted on, and the last one on disk.
// Two commits a turn, as Keelson makes them; without a lease, keys, events or a way to go on.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createRawKeeping } from "./raw.ts";
import type { Subject } from "./task.ts";

export function createRawOnSqlite(baseUrl: string): Subject {
  const folder = mkdtempSync(join(tmpdir(), "raw-bench-"));
  const database = new DatabaseSync(join(folder, "messages.db"));
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; CREATE TABLE rows (id INTEGER PRIMARY KEY, messages TEXT) STRICT");
  const insert = database.prepare("INSERT INTO rows (messages) VALUES (?)");
  return {
    ...createRawKeeping(baseUrl, (messages, atEnd) => {
      if (atEnd) database.exec("PRAGMA synchronous = FULL");
      insert.run(JSON.stringify(messages));
      if (atEnd) database.exec("PRAGMA synchronous = NORMAL");
    }),
    async close() {
      database.close();
      rmSync(folder, { recursive: true });
    },
  };
}
