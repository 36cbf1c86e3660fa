import { type BlobStore, type Digest, LogError } from "@keelson/protocol";
import { assertBlob, closedBlobStore, digestOf, MAX_BLOB_BYTES, missingBlob, sliceBlob } from "../kit/blob-content.ts";
import { openSqliteDatabase } from "./sqlite-database.ts";
import { BUSY_TIMEOUT_MS } from "./sqlite-file.ts";
import { checkOptionNames } from "../../json/option-names.ts";
import { checkMethodOptions } from "../../json/check-method-options.ts";
import { BLOB_STORE_METHODS } from "../../json/interface-methods.ts";
import { BOUND_OPTION, FUNCTION_OPTION } from "../../json/option-rules.ts";

export interface SqliteBlobStoreOptions {
  /** The database file; it and its folder are created when missing. An event log may use the same one. */
  readonly path: string;
  /** Unix ms. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Default 256 MiB. */
  readonly maxBlobBytes?: number | undefined;
  /** How long a write keeps trying while other processes hold the lock. Default 10 s. */
  readonly busyTimeoutMs?: number | undefined;
}

const PUT = "INSERT INTO blobs (digest, bytes) VALUES (?, ?) ON CONFLICT (digest) DO NOTHING";
// Beside the bytes, which would be written anew with every change of their row.
const PUT_AT = "INSERT INTO blob_puts (digest, at) VALUES (?, ?) ON CONFLICT (digest) DO UPDATE SET at = max(at, excluded.at)";
const DELETE_PUT = "DELETE FROM blob_puts WHERE digest = ?1 AND at <= ?2";
const DELETE = "DELETE FROM blobs WHERE digest = ?1 AND NOT EXISTS (SELECT 1 FROM blob_puts WHERE digest = ?1)";
const DIGEST = /^sha256:([0-9a-f]{64})$/;

/**
 * Blobs in a SQLite database. In the database of an event log, a blob is on disk at the latest when the next append with
 * `durability: "power"` resolves.
 * @throws LogError when the file is damaged, another program's, of a newer version, or can't be created
 */
export function createSqliteBlobStore(pathOrOptions: string | SqliteBlobStoreOptions): BlobStore {
  const options: SqliteBlobStoreOptions = typeof pathOrOptions === "string" ? { path: pathOrOptions } : pathOrOptions;
  checkOptionNames("createSqliteBlobStore", options, {
    path: true,
    now: FUNCTION_OPTION,
    maxBlobBytes: BOUND_OPTION,
    busyTimeoutMs: BOUND_OPTION,
  });
  const { now = Date.now, maxBlobBytes = MAX_BLOB_BYTES, busyTimeoutMs = BUSY_TIMEOUT_MS } = options;
  const database = openSqliteDatabase(options.path);
  let closed = false;

  const store: BlobStore = {
    async put(bytes) {
      if (closed) throw closedBlobStore();
      assertBlob(bytes, maxBlobBytes);
      const digest = digestOf(bytes);
      let kept = bytes;
      let isWritten = false;
      const done = database.write(
        "process",
        () => {
          database.prepare(PUT).run(keyOf(digest), kept);
          database.prepare(PUT_AT).run(keyOf(digest), now());
          isWritten = true;
        },
        busyTimeoutMs,
      );
      // A write that has to wait for the lock must not see what the caller does with the bytes meanwhile.
      if (!isWritten) kept = new Uint8Array(bytes);
      await done;
      return digest;
    },
    async get(digest, range) {
      if (closed) throw closedBlobStore();
      const row = database.read(() => database.prepare("SELECT bytes FROM blobs WHERE digest = ?").get(keyOf(digest)));
      if (row === undefined) throw missingBlob(digest);
      const bytes = row["bytes"] as Uint8Array;
      if (digestOf(bytes) !== digest) {
        throw new LogError({
          kind: "corrupt",
          log: digest,
          message: `Blob ${digest} in ${database.path} is damaged: its content has another digest. Restore the file from a backup.`,
        });
      }
      return range === undefined ? bytes : sliceBlob(bytes, range);
    },
    async delete(digest, { putUpTo }) {
      if (closed) throw closedBlobStore();
      const key = keyOf(digest);
      return database.write(
        "process",
        () => {
          database.prepare(DELETE_PUT).run(key, putUpTo);
          database.prepare(DELETE).run(key);
          return database.prepare("SELECT 1 FROM blobs WHERE digest = ?").get(key) === undefined;
        },
        busyTimeoutMs,
      );
    },
    async [Symbol.asyncDispose]() {
      if (closed) return;
      closed = true;
      database.close();
    },
  };
  return checkMethodOptions("blobs", store, BLOB_STORE_METHODS);
}

function keyOf(digest: Digest): Uint8Array {
  const hex = DIGEST.exec(digest)?.[1];
  if (hex === undefined)
    throw new LogError({ kind: "invalid-input", message: `"${digest}" is no digest: it must be "sha256:" and 64 hex digits.` });
  return Buffer.from(hex, "hex");
}
