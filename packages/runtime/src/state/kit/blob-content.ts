import { type Digest, LogError } from "@keelson/protocol";
import { nodeCrypto } from "../../platform/node-crypto.ts";

/** What one blob may hold unless the store is told otherwise. */
export const MAX_BLOB_BYTES: number = 256 * 1024 * 1024;

export function digestOf(bytes: Uint8Array): Digest {
  return `sha256:${nodeCrypto().hash("sha256", bytes, "hex")}` as Digest;
}

/** @throws LogError `invalid-input` or `too-large` */
export function assertBlob(bytes: Uint8Array, maxBlobBytes: number): void {
  if (!(bytes instanceof Uint8Array))
    throw new LogError({ kind: "invalid-input", message: `A blob must be a Uint8Array; it is ${typeof bytes}.` });
  if (bytes.byteLength > maxBlobBytes) {
    throw new LogError({
      kind: "too-large",
      limitBytes: maxBlobBytes,
      actualBytes: bytes.byteLength,
      message: `The blob has ${bytes.byteLength} bytes, over the limit of ${maxBlobBytes}. Keep it in a file, or raise maxBlobBytes.`,
    });
  }
}

/** A copy of the range, cut at the last byte. @throws LogError `invalid-input` */
export function sliceBlob(bytes: Uint8Array, range: { readonly start: number; readonly end?: number } | undefined): Uint8Array {
  if (range === undefined) return bytes.slice();
  const { start, end = Math.max(start, bytes.byteLength) } = range;
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < 0 || end < start) {
    throw new LogError({
      kind: "invalid-input",
      message: `A blob's range must be whole numbers with 0 <= start <= end; it is ${String(start)} to ${String(range.end)}.`,
    });
  }
  return bytes.slice(start, end);
}

export function missingBlob(digest: Digest): LogError {
  return new LogError({
    kind: "not-found",
    log: digest,
    message: `There is no blob ${digest} in this store. It was written to another store, or its database was replaced.`,
  });
}

export function closedBlobStore(): LogError {
  return new LogError({ kind: "closed", message: "The blob store was disposed of. Create another one to go on." });
}
