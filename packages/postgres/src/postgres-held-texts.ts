import { createHeldTexts, type HeldTexts } from "keelson/state/kit";
import type { PostgresDatabase } from "./postgres-database.ts";
import { textArray } from "./stored-name.ts";
import { wordVector } from "./word-vector.ts";

/** Beside the appends, in a statement of its own: nobody who appends waits for the index. */
export function createPostgresHeldTexts(database: PostgresDatabase): HeldTexts<string> {
  const { schema } = database;
  // Locked in one order by all, so that no two wait for each other.
  const add = `
    WITH given AS (
      SELECT u.log, u.after FROM ${schema}.unindexed u
      JOIN unnest($1::text::bigint[], $2::text::bigint[]) AS held (log, after) ON u.log = held.log AND u.after = held.after
      ORDER BY u.log, u.after FOR UPDATE OF u
    ), taken AS (
      DELETE FROM ${schema}.unindexed u USING given WHERE u.log = given.log AND u.after = given.after RETURNING u.log, u.after
    )
    INSERT INTO ${schema}.log_words (log, seq, words)
    SELECT new.log, new.seq, new.words::tsvector
    FROM unnest($3::text::bigint[], $4::text::bigint[], $5::text::bigint[], $6::text::text[]) AS new (log, after, seq, words)
    JOIN taken ON taken.log = new.log AND taken.after = new.after`;
  return createHeldTexts<string>(async (held) => {
    const rows = held.flatMap(({ id, after, texts }) =>
      texts.map((text, index) => ({ id, after, seq: after + 1 + index, words: wordVector(text) })).filter(({ words }) => words !== ""),
    );
    await database.query(add, [
      `{${held.map(({ id }) => id).join(",")}}`,
      `{${held.map(({ after }) => after).join(",")}}`,
      `{${rows.map(({ id }) => id).join(",")}}`,
      `{${rows.map(({ after }) => after).join(",")}}`,
      `{${rows.map(({ seq }) => seq).join(",")}}`,
      textArray(rows.map(({ words }) => words)),
    ]);
  });
}
