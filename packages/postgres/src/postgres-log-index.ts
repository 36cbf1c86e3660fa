import type { LogId, LogIndex } from "@keelson/protocol";
import { unindexedStretches, checkMethodOptions, LOG_INDEX_METHODS } from "keelson/state/kit";
import type { PostgresDatabase } from "./postgres-database.ts";
import { nameIn, storedName, textArray } from "./stored-name.ts";
import { wordQuery, wordVector } from "./word-vector.ts";

/** Each is compared with each, so no more are. */
const RANKED_WORDS = 32;

export interface PostgresLogIndexOptions {
  readonly database: PostgresDatabase;
  /** Adds what other appends of this process brought and the index lacks. */
  readonly flush: () => Promise<void>;
  assertOpen(): void;
}

/** The full text of session logs, in a table of words beside them. */
export function createPostgresLogIndex({ database, flush, assertOpen }: PostgresLogIndexOptions): LogIndex {
  const { schema } = database;
  // Frequent words and near ones count more, less in a long text; from 0 to 1.
  const relevance = "ts_rank('{1, 1, 1, 1}', w.words, $5::text::tsquery, 1 | 32)";
  const search = `
    SELECT l.name, found.seq, found.relevance FROM (
      SELECT w.log, w.seq, ${relevance} AS relevance FROM ${schema}.log_words w
      WHERE w.words @@ $1::text::tsquery AND ($4::text IS NULL OR w.log = (SELECT id FROM ${schema}.logs WHERE name = $4::text))
      ORDER BY relevance DESC, w.log DESC, w.seq DESC LIMIT $2::text::bigint OFFSET $3::text::bigint
    ) AS found JOIN ${schema}.logs l ON l.id = found.log
    ORDER BY found.relevance DESC, found.log DESC, found.seq DESC`;
  const unindexed = `
    SELECT u.log::text AS id, l.name, u.after, u.up_to FROM ${schema}.unindexed u JOIN ${schema}.logs l ON l.id = u.log
    ORDER BY u.log DESC, u.after DESC LIMIT $1::text::bigint`;
  const add = `
    WITH given AS (
      SELECT log, after FROM ${schema}.unindexed
      WHERE log = $1::text::bigint AND after >= $2::text::bigint AND up_to <= $3::text::bigint ORDER BY after FOR UPDATE
    ), taken AS (
      DELETE FROM ${schema}.unindexed u USING given WHERE u.log = given.log AND u.after = given.after RETURNING u.log, u.after, u.up_to
    )
    INSERT INTO ${schema}.log_words (log, seq, words)
    SELECT taken.log, new.seq, new.words::tsvector FROM unnest($4::text::bigint[], $5::text::text[]) AS new (seq, words)
    JOIN taken ON new.seq > taken.after AND new.seq <= taken.up_to`;

  const index: LogIndex = {
    async search(query, { limit, offset = 0, log }) {
      assertOpen();
      await flush();
      assertOpen();
      const words = wordQuery(query);
      if (words === "" || limit <= 0) return [];
      const inLog = log === undefined ? null : storedName(log);
      const values = [words, String(Math.min(limit, Number.MAX_SAFE_INTEGER)), String(offset), inLog, wordQuery(query, RANKED_WORDS)];
      const rows = await database.query(search, values);
      return rows.map(({ name, seq, relevance: score }) => ({
        log: nameIn(String(name)) as LogId,
        seq: Number(seq),
        score: Number(score),
      }));
    },
    async unindexed(limit) {
      assertOpen();
      await flush();
      assertOpen();
      const rows = await database.query(unindexed, [String(limit)]);
      return unindexedStretches(
        rows.map(({ id, name, after, up_to: upTo }) => ({
          log: nameIn(String(name)) as LogId,
          generation: String(id),
          after: Number(after),
          upTo: Number(upTo),
        })),
      );
    },
    async add({ generation, after, upTo }, texts) {
      assertOpen();
      const vectors = texts.map(({ seq, text }) => ({ seq, words: wordVector(text) })).filter(({ words }) => words !== "");
      await database.query(add, [
        generation,
        String(after),
        String(upTo),
        `{${vectors.map(({ seq }) => seq).join(",")}}`,
        textArray(vectors.map(({ words }) => words)),
      ]);
    },
  };
  return checkMethodOptions("index", index, LOG_INDEX_METHODS);
}
