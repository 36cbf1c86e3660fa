import type { BlobStore, Digest } from "@keelson/protocol";
import { assertBlob, closedBlobStore, digestOf, MAX_BLOB_BYTES, missingBlob, sliceBlob } from "../kit/blob-content.ts";
import { checkOptionNames } from "../../json/option-names.ts";

export interface MemoryBlobStoreOptions {
  /** Default 256 MiB. */
  readonly maxBlobBytes?: number | undefined;
}

/** Blobs that live as long as this object. Only its own copies are kept and only copies leave it, so that no content goes bad. */
export function createMemoryBlobStore(options: MemoryBlobStoreOptions = {}): BlobStore {
  checkOptionNames("createMemoryBlobStore", options, { maxBlobBytes: true });
  const { maxBlobBytes = MAX_BLOB_BYTES } = options;
  const blobs = new Map<Digest, Uint8Array>();
  let closed = false;

  return {
    async put(bytes) {
      if (closed) throw closedBlobStore();
      assertBlob(bytes, maxBlobBytes);
      const digest = digestOf(bytes);
      // Not `slice`: that of a Buffer shares its memory.
      if (!blobs.has(digest)) blobs.set(digest, new Uint8Array(bytes));
      return digest;
    },
    async get(digest, range) {
      if (closed) throw closedBlobStore();
      const bytes = blobs.get(digest);
      if (bytes === undefined) throw missingBlob(digest);
      return sliceBlob(bytes, range);
    },
    async [Symbol.asyncDispose]() {
      closed = true;
      blobs.clear();
    },
  };
}
