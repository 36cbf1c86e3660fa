import type { BlobStore } from "@keelson/protocol";
import type { Seams } from "./seams.ts";

/** Blobs as a process reaches them. */
export function disturbedBlobs(seams: Seams, blobs: BlobStore): BlobStore {
  return {
    put: (bytes) => seams.pass("put", `${bytes.length} bytes`, () => blobs.put(bytes)),
    get: (digest, range) => seams.pass("get", range === undefined ? "a blob" : "a part of a blob", () => blobs.get(digest, range)),
    [Symbol.asyncDispose]: () => seams.alive(async () => blobs[Symbol.asyncDispose]()),
  };
}
