import type { SqliteDatabase } from "./sqlite-database.ts";

/** A few milliseconds' work (https://www.sqlite.org/fts5.html#the_merge_command). */
const PAGES_AT_ONCE = 16;

/**
 * Merges some of the pieces that an index of words is made of: each transaction adds one, and each search looks at all. FTS5 would merge hundreds of
 * pages at once, so it is told to leave that. What can't be merged, since the file is in use, damaged or closed, is left to whoever adds words next.
 */
export function mergeSomeText(database: SqliteDatabase, table: "log_text" | "state_text"): void {
  try {
    database.tryWrite("process", database.prepare(`INSERT INTO ${table} (${table}, rank) VALUES ('merge', ${PAGES_AT_ONCE})`));
  } catch {
    // It only makes later searches faster.
  }
}
