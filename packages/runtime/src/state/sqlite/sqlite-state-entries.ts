import { isLinkKey } from "../kit/state-link.ts";
import { searchableText } from "../kit/searchable-text.ts";
import type { KeyRange } from "../kit/key-page.ts";
import { planWrite, type StateEntry, type StateWrite } from "../kit/state-entry.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";

/** So that one write does not pay for all that has expired. */
const FORGOTTEN_AT_ONCE = 100;

const COLUMNS = "e.version, e.value, e.metadata, e.expires_at, e.tier, e.lifetime, e.content_kind, e.salience";
const IS_LIVE = "(e.expires_at IS NULL OR e.expires_at > ?2)";
const OF_SCOPE = "(SELECT id FROM state_scopes WHERE name = ?1)";
const READ = `SELECT ${COLUMNS} FROM state_entries e WHERE e.scope = ${OF_SCOPE} AND ${IS_LIVE} AND e.key = ?3`;
const FIND = `SELECT e.id, ${COLUMNS} FROM state_entries e WHERE e.scope = ?1 AND e.key = ?2`;
const LIST = `
  SELECT e.key FROM state_entries e
  WHERE e.scope = ${OF_SCOPE} AND ${IS_LIVE} AND e.key >= ?3 AND (?4 = 0 OR e.key > ?3) AND (?5 IS NULL OR e.key < ?5)
  ORDER BY e.key LIMIT ?6`;
const PUT = `
  INSERT INTO state_entries (scope, key, version, value, metadata, expires_at, tier, lifetime, content_kind, salience)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
  ON CONFLICT (scope, key) DO UPDATE SET
    version = ?3, value = ?4, metadata = ?5, expires_at = ?6, tier = ?7, lifetime = ?8, content_kind = ?9, salience = ?10,
    embedding_model = NULL, embedding = NULL
  RETURNING id`;
const FORGET = `
  DELETE FROM state_entries WHERE id IN
    (SELECT id FROM state_entries WHERE expires_at IS NOT NULL AND expires_at <= ? LIMIT ${FORGOTTEN_AT_ONCE})`;
/** A name may be that of a session, of which nothing is to be left. */
const FORGET_SCOPE = "DELETE FROM state_scopes WHERE name = ?1 AND NOT EXISTS (SELECT 1 FROM state_entries WHERE scope = state_scopes.id)";

export function readEntry(database: SqliteDatabase, scope: string, key: string, now: number): StateEntry | undefined {
  const row = database.prepare(READ).get(scope, now, key);
  return row && entryOf(row);
}

export function listKeys(database: SqliteDatabase, scope: string, { from, isAfter, end, limit }: KeyRange, now: number): readonly string[] {
  const most = limit === Number.POSITIVE_INFINITY ? -1 : limit;
  return database
    .prepare(LIST)
    .all(scope, now, from, isAfter ? 1 : 0, end ?? null, most)
    .map((row) => row["key"] as string);
}

/** Within a transaction. @returns the new version. @throws StateError `conflict` */
export function putEntry(database: SqliteDatabase, write: StateWrite, now: number): number {
  database.prepare("INSERT INTO state_scopes (name) VALUES (?) ON CONFLICT (name) DO NOTHING").run(write.scope);
  const scope = database.prepare("SELECT id FROM state_scopes WHERE name = ?").get(write.scope)?.["id"] as number;
  const row = database.prepare(FIND).get(scope, write.key);
  const entry = planWrite(write, row && entryOf(row), now);
  const { version, value, metadata, expiresAt, tier, lifetime, contentKind, salience } = entry;
  const values = [metadata, expiresAt, tier, lifetime, contentKind, salience].map((given) => given ?? null);
  const id = database.prepare(PUT).get(scope, write.key, version, value, ...values)?.["id"] as number;
  if (row !== undefined) database.prepare("DELETE FROM state_text WHERE rowid = ?").run(id);
  if (!isLinkKey(write.key))
    database
      .prepare("INSERT INTO state_text (rowid, scope, key, text) VALUES (?, ?, ?, ?)")
      .run(id, scopeWord(scope), write.key, searchableText(JSON.parse(value)));
  database.prepare(FORGET).run(now);
  return version;
}

/** Within a transaction. */
export function deleteEntry(database: SqliteDatabase, scope: string, key: string): void {
  database.prepare(`DELETE FROM state_entries WHERE scope = ${OF_SCOPE} AND key = ?2`).run(scope, key);
  database.prepare(FORGET_SCOPE).run(scope);
}

/** The word that all entries of a scope are found by. */
export function scopeWord(scope: number): string {
  return `scope${scope}`;
}

type Row = { readonly [column: string]: unknown };

function entryOf(row: Row): StateEntry {
  const given = <T>(column: string): T | undefined => (row[column] ?? undefined) as T | undefined;
  return {
    version: row["version"] as number,
    value: row["value"] as string,
    metadata: given("metadata"),
    expiresAt: given("expires_at"),
    tier: given("tier"),
    lifetime: given("lifetime"),
    contentKind: given("content_kind"),
    salience: given("salience"),
  };
}
