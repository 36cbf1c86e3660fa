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
  `
  CREATE TABLE state_scopes (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
  ) STRICT;
  CREATE TABLE state_entries (
    -- AUTOINCREMENT: what is written about an entry later must not meet another one.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    scope INTEGER NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    value TEXT NOT NULL,
    metadata TEXT,
    expires_at INTEGER,
    tier TEXT,
    lifetime TEXT,
    content_kind TEXT,
    salience REAL,
    -- Which model made the vector; empty while there is none for this value.
    embedding_model TEXT,
    -- 32-bit floats of length 1, little endian.
    embedding BLOB
  ) STRICT;
  CREATE UNIQUE INDEX state_entries_by_key ON state_entries (scope, key);
  CREATE INDEX state_entries_by_end ON state_entries (expires_at) WHERE expires_at IS NOT NULL;
  -- The words of entries, and of none of their links. The scope is a word of its own, so that others' matches are not looked at.
  CREATE VIRTUAL TABLE state_text USING fts5 (scope, key, text, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2');
  CREATE TRIGGER forget_state_text AFTER DELETE ON state_entries BEGIN
    DELETE FROM state_text WHERE rowid = old.id;
  END;
  `,
  `
  -- When each blob was last put: what refers to it may follow. One from before this was kept has no row.
  CREATE TABLE blob_puts (
    digest BLOB PRIMARY KEY,
    at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- 1: nobody searches its log, or it has nothing to be found by.
  ALTER TABLE appends ADD COLUMN indexed INTEGER;
  -- The appends to logs of sessions that the index lacks: whoever searches sees to them. A trigger, since other processes may not know of it.
  CREATE TABLE unindexed (
    place INTEGER PRIMARY KEY
  ) STRICT;
  INSERT INTO unindexed
    SELECT a.place FROM appends a JOIN logs l ON l.id = a.place >> ${SEQ_BITS}
    WHERE l.name LIKE 'session/_%' AND l.name NOT LIKE 'session/%/%';
  CREATE TRIGGER note_unindexed AFTER INSERT ON appends WHEN new.indexed IS NULL BEGIN
    INSERT INTO unindexed VALUES (new.place);
  END;
  -- The words of records, each under its place. The text itself stands in the records.
  CREATE VIRTUAL TABLE log_text USING fts5 (text, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2');
  `,
  `
  -- Appends that follow one another, compressed, under the place of the first. Their keys stay in keys, and their words in log_text.
  CREATE TABLE segments (
    place INTEGER PRIMARY KEY,
    -- How many.
    records INTEGER NOT NULL,
    -- Of the bytes.
    sha256 BLOB NOT NULL,
    bytes BLOB NOT NULL
  ) STRICT;
  -- A trigger, since a process that does not know of segments may delete a log.
  CREATE TRIGGER delete_segments AFTER DELETE ON logs BEGIN
    DELETE FROM segments WHERE place > old.id << ${SEQ_BITS} AND place < (old.id + 1) << ${SEQ_BITS};
  END;
  -- How many records an append brought that the index lacks: it may stand in a segment.
  DELETE FROM unindexed WHERE place NOT IN (SELECT place FROM appends);
  ALTER TABLE unindexed ADD COLUMN records INTEGER NOT NULL DEFAULT 1;
  UPDATE unindexed SET records = (SELECT a.records FROM appends a WHERE a.place = unindexed.place);
  DROP TRIGGER note_unindexed;
  CREATE TRIGGER note_unindexed AFTER INSERT ON appends WHEN new.indexed IS NULL BEGIN
    INSERT INTO unindexed VALUES (new.place, new.records);
  END;
  `,
  `
  -- By itself FTS5 merges hundreds of pages at once, while everybody waits. Here those who add words have it merge a few pages at a time.
  INSERT INTO log_text (log_text, rank) VALUES ('automerge', 0);
  `,
  `
  INSERT INTO state_text (state_text, rank) VALUES ('automerge', 0);
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
