import { LogError } from "@keelson/protocol";
import type { Connection, ConnectionPool } from "./connection/connection.ts";

/** What was added to the index of words since, each search reads: some milliseconds' worth. */
const PENDING_KILOBYTES = 512;
/** Records of logs from before there was an index are read together, so many at once. */
const AT_ONCE = 8;

/** As `sessionOf` of the protocol judges names. */
function isSession(name: string): string {
  return `${name} LIKE 'session/_%' AND ${name} NOT LIKE 'session/%/%'`;
}

/**
 * What leads from each version of the schema to the next; `meta.version` is the number of those applied. Released entries never change.
 * Names are `text COLLATE "C"`, whose order is that of code points. `log` refers to `logs.id` without a foreign key, which every append
 * would pay for: only `delete` takes a log away.
 */
const MIGRATIONS: readonly (readonly string[])[] = [
  [
    "CREATE SEQUENCE epochs",
    `CREATE TABLE logs (
      -- The number of a deleted log is not given to another, so that its readers notice.
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      name text COLLATE "C" NOT NULL UNIQUE,
      -- The seq of its last record, when it came (unix ms), and what that append said of the log (JSON).
      head bigint NOT NULL DEFAULT 0,
      at bigint NOT NULL DEFAULT 0,
      summary text,
      -- The lease: no epoch where nobody ever held one, no owner once it was released.
      epoch bigint,
      owner text,
      ttl_ms bigint,
      expires_at bigint
    -- Every append changes its row: with room on the page that needs no new index entries.
    ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05)`,
    `CREATE TABLE records (
      log bigint NOT NULL,
      seq bigint NOT NULL,
      at bigint NOT NULL,
      key text COLLATE "C" NOT NULL,
      type text COLLATE "C" NOT NULL,
      -- JSON as it was written: json and jsonb refuse or change some of what JavaScript writes.
      data text NOT NULL,
      PRIMARY KEY (log, seq),
      UNIQUE (log, key)
    )`,
    `CREATE TABLE blobs (
      digest bytea PRIMARY KEY,
      size bigint NOT NULL
    )`,
    `CREATE TABLE blob_chunks (
      digest bytea NOT NULL,
      number bigint NOT NULL,
      sha256 bytea NOT NULL,
      bytes bytea NOT NULL,
      PRIMARY KEY (digest, number)
    )`,
    "ALTER TABLE blob_chunks ALTER COLUMN bytes SET STORAGE EXTERNAL",
    `CREATE TABLE state_entries (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      scope text COLLATE "C" NOT NULL,
      key text COLLATE "C" NOT NULL,
      version bigint NOT NULL,
      value text NOT NULL,
      metadata text,
      expires_at bigint,
      tier text,
      lifetime text,
      content_kind text,
      salience double precision,
      -- Names the write, so that one whose word was lost is recognised.
      writer uuid NOT NULL,
      words tsvector NOT NULL,
      -- A vector of length 1, and whose it is. Of real numbers: pgvector may be there or not.
      embedding_model text,
      embedding real[],
      UNIQUE (scope, key)
    )`,
    "CREATE INDEX state_words ON state_entries USING gin (words)",
    "CREATE INDEX state_ends ON state_entries (expires_at) WHERE expires_at IS NOT NULL",
    // Basic forms as in English, yet no word is left out.
    "CREATE TEXT SEARCH DICTIONARY stems (TEMPLATE = pg_catalog.snowball, Language = english)",
    "CREATE TEXT SEARCH CONFIGURATION words (COPY = pg_catalog.simple)",
    "ALTER TEXT SEARCH CONFIGURATION words ALTER MAPPING REPLACE pg_catalog.simple WITH stems",
    `CREATE TABLE budget_scopes (
      name text COLLATE "C" PRIMARY KEY,
      spent text NOT NULL DEFAULT '',
      reserved text NOT NULL DEFAULT '',
      open bigint NOT NULL DEFAULT 0,
      changes bigint NOT NULL DEFAULT 0
    ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05)`,
    `CREATE TABLE budget_reservations (
      key text COLLATE "C" PRIMARY KEY,
      owner text,
      at bigint NOT NULL,
      amounts text NOT NULL,
      -- A JSON list of names.
      scopes text NOT NULL,
      presumed boolean NOT NULL
    )`,
    "CREATE INDEX budget_open ON budget_reservations (at) WHERE NOT presumed",
    `CREATE TABLE budget_settlements (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      key text COLLATE "C" NOT NULL UNIQUE,
      amounts text NOT NULL
    )`,
    `CREATE TABLE budget_places (
      ticket bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      key text COLLATE "C" NOT NULL UNIQUE,
      owner text,
      at bigint NOT NULL,
      -- A JSON list of lines.
      lines text NOT NULL,
      seen bigint NOT NULL
    )`,
    `CREATE TABLE budget_retired (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      scope text COLLATE "C" NOT NULL UNIQUE
    )`,
  ],
  [
    // When each blob was last put (unix ms): what refers to it may follow. One from before this was kept was put long ago; one that a
    // process of the version before puts from now on says when by itself.
    "ALTER TABLE blobs ADD COLUMN put_at bigint NOT NULL DEFAULT 0",
    "ALTER TABLE blobs ALTER COLUMN put_at SET DEFAULT (extract(epoch FROM clock_timestamp()) * 1000)::bigint",
  ],
  [
    // The words of records, each at its places in the text. Beside them what waits to be added, a row for each append to a log of a session:
    // whoever deletes the row adds the words, so nobody adds them twice, or those of a log that was deleted meanwhile.
    "CREATE TABLE log_words (log bigint NOT NULL, seq bigint NOT NULL, words tsvector NOT NULL, PRIMARY KEY (log, seq))",
    `CREATE INDEX log_words_by_word ON log_words USING gin (words) WITH (gin_pending_list_limit = ${PENDING_KILOBYTES})`,
    `CREATE TABLE unindexed (log bigint NOT NULL, after bigint NOT NULL, up_to bigint NOT NULL, PRIMARY KEY (log, after))
      WITH (autovacuum_vacuum_scale_factor = 0.05)`,
    // Its head after an append of records without words. Every other append waits for the index, those by processes that don't know of it as well.
    "ALTER TABLE logs ADD COLUMN wordless bigint",
    `CREATE FUNCTION note_unindexed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
      BEGIN
        INSERT INTO unindexed VALUES (new.id, coalesce(old.head, 0), new.head);
        RETURN NULL;
      END $$`,
    `CREATE FUNCTION forget_words() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
      BEGIN
        -- First what waits: whoever adds it at the moment has ended then.
        DELETE FROM unindexed WHERE log = old.id;
        DELETE FROM log_words WHERE log = old.id;
        RETURN NULL;
      END $$`,
    ...["INSERT", "UPDATE OF head"].map(
      (change) => `CREATE TRIGGER ${change === "INSERT" ? "begin" : "go_on"}_unindexed AFTER ${change} ON logs FOR EACH ROW
        WHEN (new.head > ${change === "INSERT" ? "0" : "old.head"} AND new.wordless IS DISTINCT FROM new.head AND ${isSession("new.name")})
        EXECUTE FUNCTION note_unindexed()`,
    ),
    "CREATE TRIGGER forget_words AFTER DELETE ON logs FOR EACH ROW EXECUTE FUNCTION forget_words()",
    `INSERT INTO unindexed SELECT id, after, least(after + ${AT_ONCE}, head)
      FROM logs, generate_series(0, head - 1, ${AT_ONCE}) AS after WHERE ${isSession("name")}`,
    grantAsLogs("log_words, unindexed"),
  ],
  [
    // The data of older records, compressed; their rows keep the rest, so that a key that is taken stays so. The log is referred to, since one that is
    // deleted takes its segments along, whoever deletes it, those that are added at the moment as well.
    `CREATE TABLE segments (
      log bigint NOT NULL REFERENCES logs ON DELETE CASCADE,
      first bigint NOT NULL,
      last bigint NOT NULL,
      -- Of the bytes.
      sha256 bytea NOT NULL,
      bytes bytea NOT NULL,
      PRIMARY KEY (log, first)
    )`,
    "ALTER TABLE segments ALTER COLUMN bytes SET STORAGE EXTERNAL",
    "ALTER TABLE records ALTER COLUMN data DROP NOT NULL",
    grantAsLogs("segments"),
  ],
];

/** Whoever may work with logs may do so with these: they change with logs. */
function grantAsLogs(tables: string): string {
  return `DO $$ DECLARE granted record; BEGIN
      FOR granted IN
        SELECT privilege_type AS what, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END AS who
        FROM pg_class, aclexplode(relacl) WHERE oid = 'logs'::regclass AND grantee <> relowner
      LOOP
        EXECUTE format('GRANT %s ON ${tables} TO %s', granted.what, granted.who);
      END LOOP;
    END $$`;
}

export const SCHEMA_VERSION: number = MIGRATIONS.length;

/** Longer ones would be cut off by the server, with those of the channel. */
const LONGEST_NAME = 50;

/** @throws LogError `invalid-input` */
export function assertSchemaName(schema: unknown): asserts schema is string {
  if (typeof schema === "string" && /^[a-z_][a-z0-9_]*$/.test(schema) && schema.length <= LONGEST_NAME && !schema.startsWith("pg_")) return;
  throw new LogError({
    kind: "invalid-input",
    message: `The schema must be a name of small letters, digits and underscores, up to ${LONGEST_NAME}, that does not begin with "pg_"; it is ${JSON.stringify(schema)}.`,
  });
}

/** What the stores have to know of a database once its schema is there. */
export interface OpenedSchema {
  /** Names what is remembered here: a schema that was dropped and made again has another. */
  readonly id: string;
}

/**
 * Creates the schema, or brings it up to date, where nobody else does meanwhile. A schema that is as it should be is only looked at, so
 * that a user without the right to change it may open it.
 * @throws LogError `invalid-input` where it is of a newer version, or of somebody else
 */
export async function openSchema(
  pool: ConnectionPool,
  schema: string,
  where: string,
  newest: number = SCHEMA_VERSION,
): Promise<OpenedSchema> {
  const found = await findMeta(pool, schema, where);
  if (found?.version === newest) return found;
  return pool.transaction(async (connection) => {
    await connection.query("SELECT pg_advisory_xact_lock(hashtextextended($1::text, 0))", [`keelson/schema/${schema}`]);
    await connection.query("SELECT set_config('search_path', $1::text, true)", [schema]);
    const meta = (await findMeta(connection, schema, where)) ?? (await createMeta(connection, schema));
    for (let version = meta.version; version < newest; version++) {
      for (const statement of MIGRATIONS[version] ?? []) await connection.query(statement);
    }
    await connection.query(`UPDATE ${schema}.meta SET version = $1::int`, [String(newest)]);
    return meta;
  });
}

async function findMeta(
  connection: Connection,
  schema: string,
  where: string,
): Promise<(OpenedSchema & { readonly version: number }) | undefined> {
  const [there] = await connection.query(
    // All of it as of one moment, also where somebody makes the schema at the same time: `to_regclass` would see what was committed since.
    `WITH relations AS (SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1::text)
      SELECT (SELECT count(*) FROM relations)::int AS relations, EXISTS (SELECT FROM relations WHERE relname = 'meta') AS meta,
        getdatabaseencoding() AS encoding,
        (SELECT count(*) FROM information_schema.columns WHERE table_schema = $1::text AND table_name = 'meta'
          AND column_name IN ('program', 'version', 'id'))::int AS columns`,
    [schema],
  );
  if (there?.["encoding"] !== "UTF8")
    throw refused(
      `${where} has the encoding ${String(there?.["encoding"])}: sessions hold every character, so create a database with the encoding UTF8.`,
    );
  if (there["meta"] !== true) {
    if (Number(there["relations"]) > 0)
      throw refused(`The schema "${schema}" of ${where} holds tables of another program. Give \`schema\` a name of its own.`);
    return undefined;
  }
  const isOurs = Number(there["columns"]) === 3;
  const [meta] = isOurs ? await connection.query(`SELECT version, id FROM ${schema}.meta WHERE program = 'keelson'`) : [];
  if (meta === undefined)
    throw refused(`The schema "${schema}" of ${where} holds a table "meta" of another program. Give \`schema\` a name of its own.`);
  const version = Number(meta["version"]);
  if (version > SCHEMA_VERSION)
    throw refused(
      `The schema "${schema}" of ${where} has version ${version}; this version of Keelson knows versions up to ${SCHEMA_VERSION}. Update @keelson/postgres, or give another schema. It was left as it is.`,
    );
  return { version, id: String(meta["id"]) };
}

async function createMeta(connection: Connection, schema: string): Promise<OpenedSchema & { readonly version: number }> {
  const [there] = await connection.query("SELECT 1 FROM pg_namespace WHERE nspname = $1::text", [schema]);
  if (there === undefined) await connection.query(`CREATE SCHEMA ${schema}`);
  await connection.query(`CREATE TABLE ${schema}.meta (program text PRIMARY KEY, version integer NOT NULL, id uuid NOT NULL)`);
  const [meta] = await connection.query(
    `INSERT INTO ${schema}.meta (program, version, id) VALUES ('keelson', 0, gen_random_uuid()) RETURNING id`,
  );
  return { version: 0, id: String(meta?.["id"]) };
}

function refused(message: string): LogError {
  return new LogError({ kind: "invalid-input", message });
}
