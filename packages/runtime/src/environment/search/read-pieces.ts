import { read as readCallback } from "node:fs";
import { promisify } from "node:util";

const read = promisify(readCallback);
// Searching one takes a few milliseconds.
const PIECE_BYTES = 1024 * 1024;

/** Returns the bytes of an open file, piece by piece. Each piece is valid until the next. */
export async function* readPieces(file: number, signal?: AbortSignal): AsyncGenerator<Buffer> {
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  for (;;) {
    signal?.throwIfAborted();
    const { bytesRead } = await read(file, piece, 0, PIECE_BYTES, null);
    if (bytesRead === 0) return;
    yield piece.subarray(0, bytesRead);
  }
}
