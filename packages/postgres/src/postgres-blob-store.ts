import { hash } from "node:crypto";
import { type BlobStore, type Digest, LogError } from "@keelson/protocol";
import { assertBlob, closedBlobStore, digestOf, missingBlob, sliceBlob, checkMethodOptions, BLOB_STORE_METHODS } from "keelson/state/kit";
import type { Connection } from "./connection/connection.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import { clockOf } from "./postgres-log-statements.ts";

/** A blob lies in rows of so many bytes, so that neither a range nor a large blob needs all of it in one statement. */
const CHUNK_BYTES = 1024 * 1024;
const DIGEST = /^sha256:([0-9a-f]{64})$/;

export function createPostgresBlobStore(of: {
  readonly database: PostgresDatabase;
  /** Unix ms. Default: the clock of the database. */
  readonly now: (() => number) | undefined;
  readonly maxBlobBytes: number;
}): BlobStore {
  const { database, now, maxBlobBytes } = of;
  const { schema } = database;
  let closed = false;
  const clock = clockOf(now);
  const putAgain = `UPDATE ${schema}.blobs SET put_at = greatest(put_at, ${clock.sql}) WHERE digest = decode($2::text, 'hex') RETURNING size`;
  const addBlob = `
    INSERT INTO ${schema}.blobs AS b (digest, size, put_at) VALUES (decode($2::text, 'hex'), $3::text::bigint, ${clock.sql})
    ON CONFLICT (digest) DO UPDATE SET put_at = greatest(b.put_at, excluded.put_at)`;
  const addChunk = `
    INSERT INTO ${schema}.blob_chunks (digest, number, sha256, bytes) VALUES (decode($1::text, 'hex'), $2::text::bigint, decode($3::text, 'hex'), $4::bytea)
    ON CONFLICT (digest, number) DO NOTHING`;
  const addSmall = `
    WITH blob AS (${addBlob} RETURNING b.digest)
    INSERT INTO ${schema}.blob_chunks (digest, number, sha256, bytes) SELECT digest, 0, digest, $4::bytea FROM blob
    ON CONFLICT (digest, number) DO NOTHING`;
  // Who puts it again meanwhile has its row, or waits for it to go: either it stays, or all of it goes and comes again.
  const remove = `
    WITH gone AS (DELETE FROM ${schema}.blobs WHERE digest = decode($1::text, 'hex') AND put_at <= $2::text::numeric RETURNING digest)
    DELETE FROM ${schema}.blob_chunks c USING gone WHERE c.digest = gone.digest`;
  const find = `SELECT 1 FROM ${schema}.blobs WHERE digest = decode($1::text, 'hex')`;
  const findChunk = `
    SELECT b.size, encode(c.sha256, 'hex') AS sha256, c.bytes FROM ${schema}.blobs b
    LEFT JOIN ${schema}.blob_chunks c ON c.digest = b.digest AND c.number = $2::text::bigint WHERE b.digest = decode($1::text, 'hex')`;

  async function addAll(connection: Connection, hex: string, bytes: Uint8Array): Promise<void> {
    if ((await connection.query(putAgain, [clock.value(), hex])).length > 0) return;
    await connection.query(addBlob, [clock.value(), hex, String(bytes.byteLength)]);
    for (let at = 0; at < bytes.byteLength; at += CHUNK_BYTES) {
      const part = bytes.subarray(at, at + CHUNK_BYTES);
      await connection.query(addChunk, [hex, String(at / CHUNK_BYTES), hash("sha256", part, "hex"), part]);
    }
  }

  /** The size of a blob, and the bytes of the chunk that holds the one at `at`, if there is one. */
  async function lookAt(digest: Digest, at: number): Promise<{ readonly size: number; readonly bytes: Uint8Array }> {
    const number = Math.floor(at / CHUNK_BYTES);
    const [row] = await database.query(findChunk, [hexOf(digest), String(number)]);
    if (row === undefined) throw missingBlob(digest);
    const size = Number(row["size"]);
    const bytes = row["bytes"] ?? new Uint8Array();
    const isWhole =
      bytes instanceof Uint8Array &&
      bytes.byteLength === Math.max(0, Math.min(CHUNK_BYTES, size - number * CHUNK_BYTES)) &&
      (bytes.byteLength === 0 || hash("sha256", bytes, "hex") === row["sha256"]);
    if (!isWhole) throw damagedBlob(digest);
    return { size, bytes };
  }

  function damagedBlob(digest: Digest): LogError {
    return new LogError({
      kind: "corrupt",
      log: digest,
      message: `Blob ${digest} in ${database.where} is damaged: its content has another digest. Restore the database from a backup.`,
    });
  }

  const blobs: BlobStore = {
    async put(bytes) {
      if (closed) throw closedBlobStore();
      assertBlob(bytes, maxBlobBytes);
      // The caller may do with its bytes what it likes while these are on their way.
      const kept = new Uint8Array(bytes);
      const digest = digestOf(kept);
      const hex = hexOf(digest);
      if (kept.byteLength > 0 && kept.byteLength <= CHUNK_BYTES)
        await database.query(addSmall, [clock.value(), hex, String(kept.byteLength), kept]);
      else await database.transaction((connection) => addAll(connection, hex, kept));
      return digest;
    },
    async get(digest, range) {
      if (closed) throw closedBlobStore();
      // Refuses a range that is none before anything is read.
      sliceBlob(new Uint8Array(), range);
      const start = range?.start ?? 0;
      const first = await lookAt(digest, start);
      const end = Math.min(range?.end ?? first.size, first.size);
      let { bytes } = first;
      const found = new Uint8Array(Math.max(0, end - start));
      for (let at = start; at < end;) {
        const part = bytes.subarray(at % CHUNK_BYTES, (at % CHUNK_BYTES) + end - at);
        found.set(part, at - start);
        at += part.byteLength;
        if (at < end) ({ bytes } = await lookAt(digest, at));
      }
      if (range === undefined && digestOf(found) !== digest) throw damagedBlob(digest);
      return found;
    },
    async delete(digest, { putUpTo }) {
      if (closed) throw closedBlobStore();
      const hex = hexOf(digest);
      await database.query(remove, [hex, String(putUpTo)]);
      return (await database.query(find, [hex])).length === 0;
    },
    async [Symbol.asyncDispose]() {
      closed = true;
    },
  };
  return checkMethodOptions("blobs", blobs, BLOB_STORE_METHODS);
}

function hexOf(digest: Digest): string {
  const hex = DIGEST.exec(digest)?.[1];
  if (hex === undefined)
    throw new LogError({ kind: "invalid-input", message: `"${digest}" is no digest: it must be "sha256:" and 64 hex digits.` });
  return hex;
}
