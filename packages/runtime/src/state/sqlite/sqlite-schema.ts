import type { DatabaseSync } from "node:sqlite";
import { LogError } from "@keelson/protocol";

/** "Keel": marks the file as ours (https://www.sqlite.org/pragma.html#pragma_application_id). */
export const APPLICATION_ID = 0x4b65656c;

/**
 * An append's place is `log << 36 | seq of its first record`: the rowid itself, so that a log lies together, in order, without an
 * index of its own.
 */
export const SEQ_BITS = 36;
export const SEQ_MASK: number = 2 ** SEQ_BITS - 1;

/**
 * What leads from each version of the file to the next; the file's `user_version` is the number of those applied.
 * Released entries never change.
 */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE logs (
    -- AUTOINCREMENT: a deleted log's number is not given to another, so that its readers notice.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    epoch INTEGER,
    owner TEXT,
    ttl_ms INTEGER,
    expires_at INTEGER
  ) STRICT;
  CREATE TABLE records (
    place INTEGER PRIMARY KEY,
    log INTEGER NOT NULL,
    at INTEGER NOT NULL,
    key TEXT NOT NULL,
    type TEXT NOT NULL,
    data TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX records_by_key ON records (log, key);
  CREATE TABLE blobs (
    digest BLOB NOT NULL UNIQUE,
    bytes BLOB NOT NULL
  ) STRICT;
  CREATE TABLE counters (
    last_epoch INTEGER NOT NULL,
    syncs INTEGER NOT NULL
  ) STRICT;
  INSERT INTO counters VALUES (0, 0);
  `,
  `
  CREATE TABLE budget_ledger (
    id TEXT NOT NULL
  ) STRICT;
  INSERT INTO budget_ledger VALUES (lower(hex(randomblob(16))));
  -- Amounts are whole numbers by unit (pico-dollars, tokens, turns, tool calls, model calls) with commas between: money outgrows 64 bits.
  CREATE TABLE budget_scopes (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    spent TEXT NOT NULL,
    reserved TEXT NOT NULL,
    -- Open reservations that count against it.
    open INTEGER NOT NULL,
    -- How often something ended that others may have waited for.
    changes INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE budget_reservations (
    key TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    at INTEGER NOT NULL,
    amounts TEXT NOT NULL,
    -- Ids of scopes in ascending order, with commas between.
    scopes TEXT NOT NULL,
    -- 1: its owner is gone, and it counts as spent.
    presumed INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE budget_settlements (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    amounts TEXT NOT NULL
  ) STRICT;
  CREATE TABLE budget_line (
    ticket INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    at INTEGER NOT NULL,
    -- The lines in which it stands, as scope:unit with commas between.
    lines TEXT NOT NULL,
    -- Sum of the changes of its scopes when it was last tried.
    seen INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE budget_retired (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    scope INTEGER NOT NULL UNIQUE
  ) STRICT;
  `,
  `
  CREATE TABLE appends (
    place INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    -- How many.
    records INTEGER NOT NULL,
    -- A JSON list: key and type of each record, one after the other.
    names TEXT NOT NULL,
    -- A JSON list: the data of each record.
    data TEXT NOT NULL
  ) STRICT;
  INSERT INTO appends SELECT place, at, 1, json_array(key, type), '[' || data || ']' FROM records;
  DROP TABLE records;
  `,
  `
  -- A JSON object: what the append said of its log. That of the last append is what the list of logs tells.
  ALTER TABLE appends ADD COLUMN summary TEXT;
  -- Which keys a log has taken, and by which record: nobody takes one twice, whatever a process knows or forgets.
  CREATE TABLE keys (
    log INTEGER NOT NULL,
    key TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (log, key)
  ) STRICT, WITHOUT ROWID;
  -- Of an append whose names are damaged, what can be read; its readers are told.
  INSERT OR IGNORE INTO keys
    SELECT place >> ${SEQ_BITS}, names.value, (place & ${SEQ_MASK}) + names.key / 2
    FROM appends, json_each(iif(json_valid(appends.names), appends.names, '[]')) AS names
    WHERE names.key % 2 = 0 AND names.type = 'text';
  CREATE TRIGGER take_keys AFTER INSERT ON appends BEGIN
    INSERT INTO keys SELECT new.place >> ${SEQ_BITS}, value, (new.place & ${SEQ_MASK}) + key / 2 FROM json_each(new.names) WHERE key % 2 = 0;
  END;
  `,
];

export const SCHEMA_VERSION: number = MIGRATIONS.length;

/** Brings the file to a version. Several processes may do so at once. */
export function migrate(connection: DatabaseSync, path: string, version: number = SCHEMA_VERSION): void {
  if (schemaVersionOf(connection, path) === version) return;
  connection.exec("BEGIN IMMEDIATE");
  try {
    const from = schemaVersionOf(connection, path);
    for (const migration of MIGRATIONS.slice(from, version)) connection.exec(migration);
    connection.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${version}; COMMIT`);
  } catch (error) {
    if (connection.isTransaction) connection.exec("ROLLBACK");
    throw error;
  }
}

/**
 * How many migrations were applied to the file; 0 for an empty one. Changes nothing.
 * @throws LogError when the file is another program's, or of a newer version of this one
 */
export function schemaVersionOf(connection: DatabaseSync, path: string): number {
  const applicationId = pragma(connection, "application_id");
  const version = pragma(connection, "user_version");
  if (applicationId !== APPLICATION_ID) {
    const isEmpty = applicationId === 0 && version === 0 && connection.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined;
    if (isEmpty) return 0;
    throw new LogError({
      kind: "invalid-input",
      message: `${path} is a SQLite database of another program. Give a path of its own to the session database.`,
    });
  }
  if (version > SCHEMA_VERSION) {
    throw new LogError({
      kind: "invalid-input",
      message: `The database ${path} has schema version ${version}; this version of Keelson knows versions up to ${SCHEMA_VERSION}. Update Keelson, or give another path. The file was left as it is.`,
    });
  }
  return version;
}

function pragma(connection: DatabaseSync, name: "application_id" | "user_version"): number {
  return connection.prepare(`PRAGMA ${name}`).get()?.[name] as number;
}
