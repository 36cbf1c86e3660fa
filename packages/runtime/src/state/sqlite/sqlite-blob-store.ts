import { type BlobStore, type Digest, LogError } from "@keelson/protocol";
import { assertBlob, closedBlobStore, digestOf, MAX_BLOB_BYTES, missingBlob, sliceBlob } from "../kit/blob-content.ts";
import { openSqliteDatabase } from "./sqlite-database.ts";
import { BUSY_TIMEOUT_MS } from "./sqlite-file.ts";
import { checkOptionNames } from "../../json/option-names.ts";

export interface SqliteBlobStoreOptions {
  /** The database file; it and its folder are created when missing. An event log may use the same one. */
  readonly path: string;
  /** Default 256 MiB. */
  readonly maxBlobBytes?: number | undefined;
  /** How long a write keeps trying while other processes hold the lock. Default 10 s. */
  readonly busyTimeoutMs?: number | undefined;
}

const DIGEST = /^sha256:([0-9a-f]{64})$/;

/**
 * Blobs in a SQLite database. In the database of an event log, a blob is on disk at the latest when the next append with
 * `durability: "power"` resolves.
 * @throws LogError when the file is damaged, another program's, of a newer version, or can't be created
 */
export function createSqliteBlobStore(pathOrOptions: string | SqliteBlobStoreOptions): BlobStore {
  const options: SqliteBlobStoreOptions = typeof pathOrOptions === "string" ? { path: pathOrOptions } : pathOrOptions;
  checkOptionNames("createSqliteBlobStore", options, { path: true, maxBlobBytes: true, busyTimeoutMs: true });
  const { maxBlobBytes = MAX_BLOB_BYTES, busyTimeoutMs = BUSY_TIMEOUT_MS } = options;
  const database = openSqliteDatabase(options.path);
  let closed = false;

  return {
    async put(bytes) {
      if (closed) throw closedBlobStore();
      assertBlob(bytes, maxBlobBytes);
      const digest = digestOf(bytes);
      let kept = bytes;
      let isWritten = false;
      const done = database.write(
        "process",
        () => {
          database.prepare("INSERT INTO blobs (digest, bytes) VALUES (?, ?) ON CONFLICT (digest) DO NOTHING").run(keyOf(digest), kept);
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
    async [Symbol.asyncDispose]() {
      if (closed) return;
      closed = true;
      database.close();
    },
  };
}

function keyOf(digest: Digest): Uint8Array {
  const hex = DIGEST.exec(digest)?.[1];
  if (hex === undefined)
    throw new LogError({ kind: "invalid-input", message: `"${digest}" is no digest: it must be "sha256:" and 64 hex digits.` });
  return Buffer.from(hex, "hex");
}
