import type { BlobStore, Digest } from "@keelson/protocol";
import { digestOf } from "../json/digest.ts";

/** Reads the blobs below, and keeps what is put to itself. */
export function createBlobLayer(below: BlobStore): BlobStore {
  const added = new Map<Digest, Uint8Array>();
  return {
    async put(bytes) {
      const digest = digestOf(bytes) as Digest;
      added.set(digest, bytes.slice());
      return digest;
    },
    get: async (digest, range) => {
      const bytes = added.get(digest);
      return bytes === undefined ? below.get(digest, range) : bytes.slice(range?.start, range?.end);
    },
    [Symbol.asyncDispose]: async () => {},
  };
}
