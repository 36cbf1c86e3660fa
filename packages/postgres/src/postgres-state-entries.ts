import type { JsonValue } from "@keelson/protocol";
import { StateError } from "@keelson/protocol";
import { isLinkKey, type KeyRange, LAST_TIME_MS, planWrite, searchableText, type StateEntry, type StateWrite } from "keelson/state/kit";
import type { Row, SentValue } from "./connection/connection.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import type { DatabaseClock } from "./postgres-log-statements.ts";
import { nameIn, storedName } from "./stored-name.ts";
import { indexedWords } from "./indexed-words.ts";

/** What is kept of a key, as it is at one moment. */
export interface FoundEntry {
  readonly entry: StateEntry;
  /** Whether readers see it. */
  readonly isLive: boolean;
  /** Unix ms of that moment. */
  readonly now: number;
  /** Who wrote it last. */
  readonly writer: string;
}

export interface StateEntries {
  read(scope: string, key: string): Promise<FoundEntry | undefined>;
  list(scope: string, range: KeyRange): Promise<readonly string[]>;
  /** @param writer names this write: where its word was lost it is recognised, and not done again. @throws StateError `conflict` */
  write(write: StateWrite, writer: string): Promise<number>;
  delete(scope: string, key: string): Promise<void>;
}

/** So that one write does not pay for all that has expired, nor every write for any. */
const FORGET_EVERY = 50;
const FORGOTTEN_AT_ONCE = 500;
const ATTEMPTS = 50;

/** Each is one statement. */
export function stateEntries(database: PostgresDatabase, clock: DatabaseClock): StateEntries {
  const { schema } = database;
  const table = `${schema}.state_entries`;
  const withClock = `WITH clock AS (SELECT ${clock.sql} AS now)`;
  const isLive = "(e.expires_at IS NULL OR e.expires_at > clock.now)";
  const read = `${withClock}
    SELECT e.version, e.value, e.metadata, e.expires_at, e.tier, e.lifetime, e.content_kind, e.salience, e.writer, clock.now, ${isLive} AS live
    FROM clock, ${table} e WHERE e.scope = $2::text AND e.key = $3::text`;
  const list = `${withClock}
    SELECT e.key FROM clock, ${table} e
    WHERE e.scope = $2::text AND ${isLive} AND e.key >= $3::text COLLATE "C" AND ($4::text = 'from' OR e.key > $3::text COLLATE "C")
      AND ($5::text IS NULL OR e.key < $5::text COLLATE "C")
    ORDER BY e.key LIMIT $6::text::bigint`;
  const next = `
    SELECT $2::text AS scope, $3::text COLLATE "C" AS key, 1 AS version, $4::text AS value, $5::text AS metadata,
      CASE WHEN $6::text IS NOT NULL THEN least(clock.now + $6::text::bigint, ${LAST_TIME_MS}) END AS expires_at, $7::text AS tier, $8::text AS lifetime, $9::text AS content_kind,
      $10::text::double precision AS salience, $11::text::uuid AS writer,
      setweight(to_tsvector('${schema}.words', $12::text), 'A') || setweight(to_tsvector('${schema}.words', $13::text), 'B') AS words
    FROM clock`;
  const columns = ["value", "metadata", "expires_at", "tier", "lifetime", "content_kind", "salience", "writer", "words"];
  const change = (from: string): string => `
    version = CASE WHEN e.expires_at IS NULL OR e.expires_at > (SELECT now FROM clock) THEN e.version + 1 ELSE 1 END,
    ${columns.map((column) => `${column} = ${from}.${column}`).join(", ")}, embedding_model = NULL, embedding = NULL`;
  const holds = `e.writer <> $11::text::uuid AND ($14::text::bigint IS NULL OR $14::text::bigint =
    CASE WHEN e.expires_at IS NULL OR e.expires_at > (SELECT now FROM clock) THEN e.version ELSE 0 END)`;
  const names = ["scope", "key", "version", ...columns].join(", ");
  const writeAny = `${withClock}
    INSERT INTO ${table} AS e (${names}) SELECT ${names} FROM (${next}) AS next
    ON CONFLICT (scope, key) DO UPDATE SET ${change("excluded")} WHERE ${holds} RETURNING e.version`;
  // A key that must be there.
  const writeThere = `${withClock}
    UPDATE ${table} AS e SET ${change("next")} FROM (${next}) AS next WHERE e.scope = next.scope AND e.key = next.key AND ${holds} RETURNING e.version`;
  const forget = `${withClock}
    DELETE FROM ${table} WHERE id IN
      (SELECT e.id FROM clock, ${table} e WHERE e.expires_at <= clock.now LIMIT ${FORGOTTEN_AT_ONCE} FOR UPDATE OF e SKIP LOCKED)`;
  let writes = 0;

  async function find(scope: string, key: string): Promise<FoundEntry | undefined> {
    const [row] = await database.query(read, [clock.value(), storedName(scope), storedName(key)]);
    return row && { entry: entryIn(row), isLive: row["live"] === true, now: Number(row["now"]), writer: String(row["writer"]) };
  }

  return {
    read: find,
    async list(scope, { from, isAfter, end, limit }) {
      const values = [
        clock.value(),
        storedName(scope),
        storedName(from),
        isAfter ? "after" : "from",
        end === undefined ? null : storedName(end),
        limit === Number.POSITIVE_INFINITY ? null : String(limit),
      ];
      return (await database.query(list, values)).map(({ key }) => nameIn(String(key)));
    },
    async write(write, writer) {
      const { scope, key, ifVersion } = write;
      const values = [clock.value(), ...valuesOf(write, writer)];
      const statement = ifVersion === undefined || ifVersion === 0 ? writeAny : writeThere;
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const [row] = await database.query(statement, values);
        if (row !== undefined) {
          if (++writes % FORGET_EVERY === 0) await database.query(forget, [clock.value()]);
          return Number(row["version"]);
        }
        const found = await find(scope, key);
        if (found?.writer === writer) return found.entry.version;
        // It says why, unless that is over already.
        planWrite(write, found?.entry, found?.now ?? 0);
      }
      throw new StateError({
        kind: "unavailable",
        message: `Others wrote "${key}" in ${scope} again and again while this write was tried. Try again.`,
      });
    },
    async delete(scope, key) {
      await database.query(`DELETE FROM ${table} WHERE scope = $1::text AND key = $2::text`, [storedName(scope), storedName(key)]);
    },
  };
}

/** From the second parameter on. */
function valuesOf(write: StateWrite, writer: string): readonly SentValue[] {
  const { scope, key, value, metadata, ttlMs, tier, lifetime, contentKind, salience, ifVersion } = write;
  const isLink = isLinkKey(key);
  return [
    storedName(scope),
    storedName(key),
    value,
    metadata ?? null,
    ttlMs === undefined ? null : String(ttlMs),
    tier ?? null,
    lifetime ?? null,
    contentKind === undefined ? null : storedName(contentKind),
    salience === undefined ? null : String(salience),
    writer,
    // Searches don't find links.
    isLink ? "" : indexedWords(key),
    isLink ? "" : indexedWords(searchableText(JSON.parse(value) as JsonValue)),
    ifVersion === undefined ? null : String(ifVersion),
  ];
}

function entryIn(row: Row): StateEntry {
  const text = (column: string): string | undefined => (row[column] === null ? undefined : nameIn(String(row[column])));
  return {
    version: Number(row["version"]),
    value: String(row["value"]),
    metadata: row["metadata"] === null ? undefined : String(row["metadata"]),
    expiresAt: row["expires_at"] === null ? undefined : Number(row["expires_at"]),
    tier: text("tier"),
    lifetime: text("lifetime"),
    contentKind: text("content_kind"),
    salience: row["salience"] === null ? undefined : Number(row["salience"]),
  };
}
