import { existsSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { nodeSqlite } from "../../platform/node-sqlite.ts";
import { isWhole, type PackedTexts } from "../kit/packed-texts.ts";
import { SEQ_BITS, SEQ_MASK } from "./sqlite-schema.ts";

const MAX_PROBLEMS = 10;

/**
 * What is wrong inside of a database file, as SQLite's own check of all its pages and indexes finds it, and which segments of logs are not what
 * was sealed; nothing of one that is whole, or not there. It reads the whole file and changes nothing. Of a write-ahead log that was lost or cut it can't know: see
 * `docs/durability.md`.
 */
export function checkSqliteDatabase(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  const { DatabaseSync } = nodeSqlite();
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      const rows = database.prepare(`PRAGMA integrity_check(${MAX_PROBLEMS})`).all();
      const problems = rows.map((row) => String(row["integrity_check"])).filter((line) => line !== "ok");
      return problems.length > 0 ? problems : damagedSegments(database);
    } finally {
      database.close();
    }
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

const SEGMENTS = `
  SELECT l.name, s.place & ${SEQ_MASK} AS seq, s.records, s.sha256, s.bytes
  FROM segments s LEFT JOIN logs l ON l.id = s.place >> ${SEQ_BITS} ORDER BY s.place`;

function damagedSegments(database: DatabaseSync): readonly string[] {
  // A file of an earlier version, or another program's.
  if (database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'segments'").get() === undefined) return [];
  const problems: string[] = [];
  for (const row of database.prepare(SEGMENTS).iterate()) {
    const { name, seq, records, ...packed } = row as unknown as PackedTexts & { name: string; seq: number; records: number };
    if (isWhole(packed)) continue;
    problems.push(`the segment with records ${seq} to ${seq + records - 1} of log "${name}" is not what was sealed`);
    if (problems.length === MAX_PROBLEMS) break;
  }
  return problems;
}
