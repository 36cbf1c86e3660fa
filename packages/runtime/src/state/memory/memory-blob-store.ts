import type { BlobStore, Digest } from "@keelson/protocol";
import { assertBlob, closedBlobStore, digestOf, MAX_BLOB_BYTES, missingBlob, sliceBlob } from "../kit/blob-content.ts";
import { checkOptionNames } from "../../json/option-names.ts";
import { checkMethodOptions } from "../../json/check-method-options.ts";
import { BLOB_STORE_METHODS } from "../../json/interface-methods.ts";
import { BOUND_OPTION, FUNCTION_OPTION } from "../../json/option-rules.ts";

export interface MemoryBlobStoreOptions {
  /** Unix ms. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Default 256 MiB. */
  readonly maxBlobBytes?: number | undefined;
}

/** Blobs that live as long as this object. Only its own copies are kept and only copies leave it, so that no content goes bad. */
export function createMemoryBlobStore(options: MemoryBlobStoreOptions = {}): BlobStore {
  checkOptionNames("createMemoryBlobStore", options, { now: FUNCTION_OPTION, maxBlobBytes: BOUND_OPTION });
  const { now = Date.now, maxBlobBytes = MAX_BLOB_BYTES } = options;
  const blobs = new Map<Digest, { readonly bytes: Uint8Array; readonly putAt: number }>();
  let closed = false;

  const store: BlobStore = {
    async put(bytes) {
      if (closed) throw closedBlobStore();
      assertBlob(bytes, maxBlobBytes);
      const digest = digestOf(bytes);
      // Not `slice`: that of a Buffer shares its memory.
      blobs.set(digest, { bytes: blobs.get(digest)?.bytes ?? new Uint8Array(bytes), putAt: now() });
      return digest;
    },
    async get(digest, range) {
      if (closed) throw closedBlobStore();
      const kept = blobs.get(digest);
      if (kept === undefined) throw missingBlob(digest);
      return sliceBlob(kept.bytes, range);
    },
    async delete(digest, { putUpTo }) {
      if (closed) throw closedBlobStore();
      const kept = blobs.get(digest);
      if (kept !== undefined && kept.putAt > putUpTo) return false;
      blobs.delete(digest);
      return true;
    },
    async [Symbol.asyncDispose]() {
      closed = true;
      blobs.clear();
    },
  };
  return checkMethodOptions("blobs", store, BLOB_STORE_METHODS);
}
