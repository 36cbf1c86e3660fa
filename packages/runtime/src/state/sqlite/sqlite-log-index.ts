import type { LogId, LogIndex, UnindexedRecords } from "@keelson/protocol";
import { wordsOf } from "../kit/searchable-text.ts";
import { SHORTEST_BEGINNING } from "../kit/text-relevance.ts";
import { unindexedStretches } from "../kit/unindexed-stretches.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";
import { SEQ_BITS, SEQ_MASK } from "./sqlite-schema.ts";
import { mergeSomeText } from "./sqlite-text-merge.ts";
import { checkMethodOptions } from "../../json/check-method-options.ts";
import { LOG_INDEX_METHODS } from "../../json/interface-methods.ts";

/** `?1` is the number of a log. */
const IN_LOG = `> ?1 << ${SEQ_BITS} AND %s < (?1 + 1) << ${SEQ_BITS}`;
const SEARCH = `
  SELECT l.name, t.rowid & ${SEQ_MASK} AS seq, t.relevance
  FROM (
    SELECT rowid, -bm25(log_text) AS relevance FROM log_text
    WHERE log_text MATCH ?1 AND rowid >= ?2 << ${SEQ_BITS} AND rowid < ?3 << ${SEQ_BITS}
    ORDER BY rank, rowid DESC LIMIT ?4 OFFSET ?5
  ) t JOIN logs l ON l.id = t.rowid >> ${SEQ_BITS}
  ORDER BY t.relevance DESC, t.rowid DESC`;
const UNINDEXED = `
  SELECT l.id, l.name, u.place & ${SEQ_MASK} AS seq, u.records
  FROM unindexed u JOIN logs l ON l.id = u.place >> ${SEQ_BITS}
  ORDER BY u.place DESC LIMIT ?`;
const NOTE_INDEXED = `DELETE FROM unindexed WHERE place > ?1 << ${SEQ_BITS} | ?2 AND place <= ?1 << ${SEQ_BITS} | ?3`;
const ADD_TEXT = `INSERT OR REPLACE INTO log_text (rowid, text) VALUES (?1 << ${SEQ_BITS} | ?2, ?3)`;
/** Pages are merged once for so much text, which is about three of the index, and each of them is merged some five times as it grows. */
const LENGTH_PER_MERGE = 16 * 1024;
const FORGET_TEXT = `DELETE FROM log_text WHERE rowid ${IN_LOG.replace("%s", "rowid")}`;
const FORGET_UNINDEXED = `DELETE FROM unindexed WHERE place ${IN_LOG.replace("%s", "place")}`;
/** Above the number of any log. */
const EVERY_LOG = 2 ** (63 - SEQ_BITS) - 1;

export interface SqliteLogIndexOptions {
  readonly database: SqliteDatabase;
  readonly busyTimeoutMs: number;
  /** Adds what other appends of this process brought and the index lacks. */
  readonly flush: (waitMs: number) => Promise<void>;
  assertOpen(): void;
}

/** The full text of session logs, in a table of FTS5 beside them. */
export function createSqliteLogIndex({ database, busyTimeoutMs, flush, assertOpen }: SqliteLogIndexOptions): LogIndex {
  const index: LogIndex = {
    async search(query, { limit, offset = 0, log }) {
      assertOpen();
      await flush(busyTimeoutMs);
      assertOpen();
      const words = wordsOf(query);
      return database.read(() => {
        const id = log === undefined ? undefined : idOf(database, log);
        if (words.length === 0 || (log !== undefined && id === undefined)) return [];
        const [from, to] = id === undefined ? [0, EVERY_LOG] : [id, id + 1];
        return database
          .prepare(SEARCH)
          .all(matchOf(words), from, to, limit, offset)
          .map(({ name, seq, relevance }) => ({ log: name as LogId, seq: seq as number, score: scoreOf(relevance as number) }));
      });
    },
    async unindexed(limit) {
      assertOpen();
      await flush(busyTimeoutMs);
      assertOpen();
      return database.read(() =>
        unindexedStretches((database.prepare(UNINDEXED).all(limit) as unknown as readonly UnindexedRow[]).map(recordsIn)),
      );
    },
    async add({ log, generation, after, upTo }, texts) {
      assertOpen();
      let length = 0;
      await database.write(
        "process",
        () => {
          const id = idOf(database, log);
          if (id === undefined || String(id) !== generation) return;
          noteIndexed(database, id, after, upTo);
          for (const { seq, text } of texts) {
            if (seq <= after || seq > upTo) continue;
            addText(database, id, seq, text);
            length += text.length;
          }
        },
        busyTimeoutMs,
      );
      // Many of these follow one another, and others have work to do in between.
      await mergeTexts(database, length);
    },
  };
  return checkMethodOptions("index", index, LOG_INDEX_METHODS);
}

/** Within a transaction, as are the next two. @returns whether any of these records was not in the index */
export function noteIndexed(database: SqliteDatabase, id: number, after: number, upTo: number): boolean {
  return database.prepare(NOTE_INDEXED).run(id, after, upTo).changes !== 0;
}

export function forgetTexts(database: SqliteDatabase, id: number): void {
  database.prepare(FORGET_TEXT).run(id);
  database.prepare(FORGET_UNINDEXED).run(id);
}

export function addText(database: SqliteDatabase, id: number, seq: number, text: string): void {
  if (text !== "") database.prepare(ADD_TEXT).run(id, seq, text.toWellFormed());
}

/**
 * Keeps the pieces that the index is made of few, after so much text was added: bit by bit, so that others have their turn in between.
 */
export async function mergeTexts(database: SqliteDatabase, addedLength: number): Promise<void> {
  for (let left = addedLength; ; left -= LENGTH_PER_MERGE) {
    await new Promise((resolve) => setImmediate(resolve));
    if (left <= 0) return;
    mergeSomeText(database, "log_text");
  }
}

function idOf(database: SqliteDatabase, log: LogId): number | undefined {
  return database.prepare("SELECT id FROM logs WHERE name = ?").get(log)?.["id"] as number | undefined;
}

/** A query of FTS5 (https://www.sqlite.org/fts5.html#full_text_query_syntax). */
function matchOf(words: readonly string[]): string {
  return words.map((word) => (word.length < SHORTEST_BEGINNING ? `"${word}"` : `"${word}" *`)).join(" AND ");
}

function scoreOf(relevance: number): number {
  return relevance / (1 + relevance);
}

interface UnindexedRow {
  readonly id: number;
  readonly name: LogId;
  readonly seq: number;
  readonly records: number;
}

function recordsIn({ id, name, seq, records }: UnindexedRow): UnindexedRecords {
  return { log: name, generation: String(id), after: seq - 1, upTo: seq + records - 1 };
}
