import type { Embedder, JsonObject, SearchResult } from "@keelson/protocol";
import { parseJson } from "../../json/parse-json.ts";
import { addMeaning } from "../kit/search-by-meaning.ts";
import { bestMatches, candidatesFor, scoreOf, type SearchTerms } from "../kit/search-terms.ts";
import { MAX_QUERY_WORDS, searchableText, snippetAround, wordsOf } from "../kit/searchable-text.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";
import { scopeWord } from "./sqlite-state-entries.ts";
import { embedMissing, nearest } from "./sqlite-state-vectors.ts";
import { hasVectorFunctions } from "./sqlite-vector-functions.ts";

/** What both kinds of search leave out: `?1` is the scope, `?2` the time, `?3` and `?4` what is asked for. */
const WANTED = `
  e.scope = ?1 AND (e.expires_at IS NULL OR e.expires_at > ?2)
  AND (?3 IS NULL OR e.content_kind = ?3) AND (?4 IS NULL OR e.tier = ?4)`;
const BY_WORDS = `
  SELECT e.id, -bm25(state_text, 0.0, 2.0, 1.0) AS relevance
  FROM state_text JOIN state_entries e ON e.id = state_text.rowid
  WHERE state_text MATCH ?5 AND ${WANTED}
  ORDER BY relevance DESC, e.key LIMIT ?6`;
const SHOWN = "SELECT e.id, e.key, e.value, e.metadata, e.salience FROM state_entries e WHERE e.id = ?";

export interface SqliteSearch {
  readonly database: SqliteDatabase;
  readonly embedder: Embedder | undefined;
  readonly now: () => number;
}

/** By words, and by meaning too where there is an embedder. What was written since the last search gets its vectors first. */
export async function searchEntries(
  search: SqliteSearch,
  scopeName: string,
  query: string,
  terms: SearchTerms,
): Promise<readonly SearchResult[]> {
  const { database, embedder, now } = search;
  const words = wordsOf(query).slice(0, MAX_QUERY_WORDS);
  const scope = database.read(() => database.prepare("SELECT id FROM state_scopes WHERE name = ?").get(scopeName)?.["id"]) as
    | number
    | undefined;
  if (scope === undefined || words.length === 0 || terms.limit === 0) return [];
  const wanted = [scope, now(), terms.contentKind ?? null, terms.tier ?? null] as const;
  const most = candidatesFor(terms.limit);
  const byWords = database.read(() => database.prepare(BY_WORDS).all(...wanted, matchOf(scope, words), most));
  let relevance: ReadonlyMap<number, number> = new Map(
    byWords.map(({ id, relevance: found }) => [id as number, (found as number) / (1 + (found as number))]),
  );
  if (embedder !== undefined) {
    const { model } = embedder;
    relevance = await addMeaning(relevance, {
      embedder,
      query,
      signal: terms.signal,
      embedMissing: (embed) => embedMissing(database, scope, model, embed),
      nearest: async (sought) =>
        nearest(database, { sql: WANTED, values: wanted }, model, sought, {
          most,
          isNative: await hasVectorFunctions(database.connection),
        }),
    });
  }
  const matches = database.read(() => [...relevance].flatMap(([id, found]) => shown(database, id, found, words)));
  return bestMatches(matches, terms);
}

/** A query of FTS5 (https://www.sqlite.org/fts5.html#full_text_query_syntax): any of the words, in entries of the scope. */
function matchOf(scope: number, words: readonly string[]): string {
  return `scope : "${scopeWord(scope)}" AND {key text} : (${words.map((word) => `"${word}"`).join(" OR ")})`;
}

/** Nothing where somebody deleted it meanwhile. */
function shown(database: SqliteDatabase, id: number, relevance: number, words: readonly string[]): SearchResult[] {
  const row = database.prepare(SHOWN).get(id);
  if (row === undefined) return [];
  const metadata = row["metadata"] as string | null;
  return [
    {
      key: row["key"] as string,
      score: scoreOf(relevance, (row["salience"] as number | null) ?? undefined),
      snippet: snippetAround(searchableText(parseJson(row["value"] as string)), words),
      ...(metadata !== null && { metadata: parseJson(metadata) as JsonObject }),
    },
  ];
}
