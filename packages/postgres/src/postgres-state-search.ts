import type { Embedder, JsonObject, SearchResult } from "@keelson/protocol";
import {
  addMeaning,
  bestMatches,
  candidatesFor,
  embeddedText,
  isLinkKey,
  MAX_QUERY_WORDS,
  type MeaningSearch,
  scoreOf,
  searchableText,
  type SearchTerms,
  snippetAround,
  wordsOf,
} from "keelson/state/kit";
import { parseJson } from "keelson/tools";
import type { Row } from "./connection/connection.ts";
import { indexedWords } from "./indexed-words.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import type { DatabaseClock } from "./postgres-log-statements.ts";
import { nameIn, storedName, textArray } from "./stored-name.ts";

/** Texts for one request of the embedder. */
const BATCH = 200;

export type StateSearch = (scope: string, query: string, terms: SearchTerms) => Promise<readonly SearchResult[]>;

/** By words, and by meaning too where there is an embedder. What was written since the last search gets its vectors first. */
export function stateSearch(database: PostgresDatabase, clock: DatabaseClock, embedder: Embedder | undefined): StateSearch {
  const { schema } = database;
  const table = `${schema}.state_entries`;
  const wanted = `e.scope = $2::text AND (e.expires_at IS NULL OR e.expires_at > clock.now)
    AND ($3::text IS NULL OR e.content_kind = $3::text) AND ($4::text IS NULL OR e.tier = $4::text)`;
  const byWords = `
    SELECT e.id::text AS id, ts_rank('{0.1, 0.2, 0.5, 0.8}', e.words, query, 32) AS relevance
    FROM (SELECT ${clock.sql} AS now) AS clock, to_tsquery('${schema}.words', $6::text) AS query, ${table} e
    WHERE ${wanted} AND e.words @@ query ORDER BY relevance DESC, e.key LIMIT $5::text::bigint`;
  const shown = `SELECT id::text AS id, key, value, metadata, salience FROM ${table} WHERE id = ANY($1::text::bigint[])`;
  const missing = `
    SELECT id::text AS id, version, key, value FROM ${table}
    WHERE scope = $1::text AND embedding_model IS DISTINCT FROM $2::text AND id > $3::text::bigint ORDER BY id LIMIT ${BATCH}`;
  const keep = `
    UPDATE ${table} e SET embedding_model = $4::text, embedding = new.embedding::real[]
    FROM unnest($1::text::bigint[], $2::text::bigint[], $3::text::text[]) AS new (id, version, embedding)
    WHERE e.id = new.id AND e.version = new.version`;
  let likeness: Promise<string> | undefined;

  /**
   * How alike two vectors of length 1 are: by pgvector where the database has it, else as a sum over both. The vectors are kept as `real[]`
   * either way, so that pgvector may come and go, and whoever wants an index makes one on the cast.
   */
  async function likenessOf(): Promise<string> {
    const [extension] = await database.query(
      "SELECT quote_ident(n.nspname) AS schema FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'",
    );
    const where = extension?.["schema"];
    return typeof where === "string"
      ? `-(e.embedding::${where}.vector OPERATOR(${where}.<#>) $6::text::real[]::${where}.vector)`
      : "(SELECT sum(one * other) FROM unnest(e.embedding, $6::text::real[]) AS parts (one, other))";
  }

  async function embedMissing(scope: string, model: string, embed: Parameters<MeaningSearch<string>["embedMissing"]>[0]): Promise<void> {
    for (let last = "0"; ;) {
      const rows = await database.query(missing, [storedName(scope), model, last]);
      if (rows.length === 0) return;
      last = String(rows.at(-1)?.["id"]);
      const entries = rows.filter((row) => !isLinkKey(nameIn(String(row["key"]))));
      if (entries.length === 0) continue;
      const vectors = await embed(entries.map(textOf));
      const made = entries.flatMap((entry, index) => {
        const vector = vectors[index];
        return vector === undefined ? [] : [{ id: entry["id"], version: entry["version"], vector: vectorText(vector) }];
      });
      await database.query(keep, [
        `{${made.map(({ id }) => String(id)).join(",")}}`,
        `{${made.map(({ version }) => String(version)).join(",")}}`,
        textArray(made.map(({ vector }) => vector)),
        model,
      ]);
      if (vectors.includes(undefined)) return;
    }
  }

  /** Nearest first; those that point away are left out. */
  async function nearest(values: readonly (string | null)[], query: readonly number[], model: string): Promise<readonly string[]> {
    const measure = await (likeness ??= likenessOf());
    const statement = `
      SELECT id::text AS id FROM (
        SELECT e.id, e.key, ${measure} AS likeness FROM (SELECT ${clock.sql} AS now) AS clock, ${table} e
        WHERE ${wanted} AND e.embedding_model = $7::text AND cardinality(e.embedding) = ${query.length}) AS found
      WHERE likeness > 0 ORDER BY likeness DESC, key LIMIT $5::text::bigint`;
    return (await database.query(statement, [...values, vectorText(query), model])).map(({ id }) => String(id));
  }

  return async (scope, query, terms) => {
    const words = wordsOf(query).slice(0, MAX_QUERY_WORDS);
    const sought = [...new Set(indexedWords(query).split(" "))].slice(0, MAX_QUERY_WORDS);
    if (sought[0] === "" || terms.limit === 0) return [];
    const most = String(candidatesFor(terms.limit));
    const { contentKind, tier, signal } = terms;
    const values = [clock.value(), storedName(scope), contentKind === undefined ? null : storedName(contentKind), tier ?? null, most];
    const anyOf = sought.map((word) => `'${word}'`).join(" | ");
    const found = await database.query(byWords, [...values, anyOf]);
    let relevance: ReadonlyMap<string, number> = new Map(found.map((row) => [String(row["id"]), Number(row["relevance"])]));
    if (embedder !== undefined) {
      const { model } = embedder;
      relevance = await addMeaning(relevance, {
        embedder,
        query,
        signal,
        embedMissing: (embed) => embedMissing(scope, model, embed),
        nearest: (vector) => nearest(values, vector, model),
      });
    }
    if (relevance.size === 0) return [];
    const rows = await database.query(shown, [`{${[...relevance.keys()].join(",")}}`]);
    return bestMatches(
      rows.map((row) => resultIn(row, relevance.get(String(row["id"])) ?? 0, words)),
      terms,
    );
  };
}

function resultIn({ key, value, metadata, salience }: Row, relevance: number, words: readonly string[]): SearchResult {
  return {
    key: nameIn(String(key)),
    score: scoreOf(relevance, salience === null ? undefined : Number(salience)),
    snippet: snippetAround(searchableText(parseJson(String(value))), words),
    ...(metadata !== null && { metadata: parseJson(String(metadata)) as JsonObject }),
  };
}

function textOf({ key, value }: Row): string {
  return embeddedText(nameIn(String(key)), parseJson(String(value)));
}

/** Of length 1. */
function vectorText(vector: readonly number[]): string {
  const length = Math.hypot(...vector);
  return `{${vector.map((part) => (length === 0 ? 0 : part / length)).join(",")}}`;
}
