import { existsSync } from "node:fs";

const MAX_PROBLEMS = 10;

/**
 * What is wrong inside of a database file, as SQLite's own check of all its pages and indexes finds it; nothing of one that is whole,
 * or not there. It reads the whole file and changes nothing. Of a write-ahead log that was lost or cut it can't know: see
 * `docs/durability.md`.
 */
export function checkSqliteDatabase(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      const rows = database.prepare(`PRAGMA integrity_check(${MAX_PROBLEMS})`).all();
      return rows.map((row) => String(row["integrity_check"])).filter((line) => line !== "ok");
    } finally {
      database.close();
    }
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}
