import { createHeldTexts, type HeldAppend, type HeldTexts } from "../kit/held-texts.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";
import { addText, mergeTexts, noteIndexed } from "./sqlite-log-index.ts";

/** A few milliseconds' work, for which others wait. */
const MOST_LENGTH = 32 * 1024;

/** A transaction of FTS5 writes several pages, however little it adds. */
export function createSqliteHeldTexts(database: SqliteDatabase, busyTimeoutMs: number): HeldTexts<number> {
  function add(held: readonly HeldAppend<number>[]): number {
    let length = 0;
    for (const { id, after, texts } of held) {
      if (!noteIndexed(database, id, after, after + texts.length)) continue;
      for (const [index, text] of texts.entries()) {
        addText(database, id, after + 1 + index, text);
        length += text.length;
      }
    }
    return length;
  }
  return createHeldTexts<number>(async (held, waitMs = busyTimeoutMs) => {
    const length = await database.write("process", () => add(held), waitMs);
    // Nobody waits for that: it only makes later searches faster.
    void mergeTexts(database, length);
  }, MOST_LENGTH);
}
