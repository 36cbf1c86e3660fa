import type { BlobStore } from "@keelson/protocol";
import type { Seams } from "./seams.ts";

/** Blobs as a process reaches them. */
export function disturbedBlobs(seams: Seams, blobs: BlobStore): BlobStore {
  return {
    // The size depends on the durations that a snapshot holds, and steps are the same in each run.
    put: (bytes) => seams.pass("put", "a blob", () => blobs.put(bytes)),
    get: (digest, range) => seams.pass("get", range === undefined ? "a blob" : "a part of a blob", () => blobs.get(digest, range)),
    [Symbol.asyncDispose]: () => seams.alive(async () => blobs[Symbol.asyncDispose]()),
  };
}
