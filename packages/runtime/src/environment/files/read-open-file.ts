import { read as readCallback } from "node:fs";
import { promisify } from "node:util";

const read = promisify(readCallback);

// Between two, a signal is looked at.
const CHUNK_BYTES = 4 * 1024 * 1024;
const UNKNOWN_SIZE_CHUNK_BYTES = 64 * 1024;

/**
 * The bytes of an open file, from where it stands: `size` of them, or less when it became shorter. Where the system tells
 * no size (0, as for files of /proc), all there are, but no more than one above `maxBytes`.
 */
export async function readOpenFile(
  file: number,
  { size, maxBytes, signal }: { readonly size: number; readonly maxBytes: number; readonly signal?: AbortSignal | undefined },
): Promise<Buffer> {
  if (size === 0) return readUnknownSize(file, maxBytes, signal);
  const content = Buffer.allocUnsafe(size);
  let filled = 0;
  while (filled < size) {
    signal?.throwIfAborted();
    const { bytesRead } = await read(file, content, filled, Math.min(CHUNK_BYTES, size - filled), null);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return content.subarray(0, filled);
}

/** Returns the bytes of an open file from `start` up to `end`, or to its end if that comes first. */
export async function readOpenPart(
  file: number,
  { start, end, signal }: { readonly start: number; readonly end: number; readonly signal?: AbortSignal | undefined },
): Promise<Buffer> {
  const content = Buffer.allocUnsafe(Math.max(0, end - start));
  let filled = 0;
  while (filled < content.byteLength) {
    signal?.throwIfAborted();
    const { bytesRead } = await read(file, content, filled, Math.min(CHUNK_BYTES, content.byteLength - filled), start + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return content.subarray(0, filled);
}

async function readUnknownSize(file: number, maxBytes: number, signal: AbortSignal | undefined): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  while (bytes <= maxBytes) {
    signal?.throwIfAborted();
    const length = Math.min(UNKNOWN_SIZE_CHUNK_BYTES, maxBytes + 1 - bytes);
    const { buffer, bytesRead } = await read(file, Buffer.allocUnsafe(length), 0, length, null);
    if (bytesRead === 0) break;
    chunks.push(buffer.subarray(0, bytesRead));
    bytes += bytesRead;
  }
  return Buffer.concat(chunks);
}
