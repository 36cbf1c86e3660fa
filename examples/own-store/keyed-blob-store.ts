import type { BlobStore } from "@keelson/protocol";
import { assertBlob, closedBlobStore, digestOf, MAX_BLOB_BYTES, missingBlob, sliceBlob } from "keelson/state/kit";
import type { KeyedServer } from "./keyed-server.ts";

// #region blobs
/** Blobs on a server that keeps texts by name. */
export function createKeyedBlobStore(server: KeyedServer): BlobStore {
  let closed = false;
  return {
    async put(bytes) {
      if (closed) throw closedBlobStore();
      assertBlob(bytes, MAX_BLOB_BYTES);
      const digest = digestOf(bytes);
      const text = Buffer.from(bytes).toString("base64");
      await server.transaction(async (values) => void values.set(`blob/${digest}`, text));
      return digest;
    },
    async get(digest, range) {
      if (closed) throw closedBlobStore();
      const text = await server.get(`blob/${digest}`);
      if (text === undefined) throw missingBlob(digest);
      return sliceBlob(new Uint8Array(Buffer.from(text, "base64")), range);
    },
    async [Symbol.asyncDispose]() {
      closed = true;
    },
  };
}
// #endregion
