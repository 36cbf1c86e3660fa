import type { BlobStore, Digest } from "@keelson/protocol";
import { createByteBuffer } from "./byte-buffer.ts";
import { createTailBuffer } from "./tail-buffer.ts";

export interface JobOutputBounds {
  /** Bytes of the beginning, and of the end, that stay in memory. */
  readonly headBytes: number;
  readonly tailBytes: number;
  /** Bytes that go into the store, where there is one. */
  readonly maxBlobBytes: number;
}

const PIECE_BYTES = 256 * 1024;

interface Piece {
  readonly start: number;
  readonly end: number;
  readonly digest: Digest;
}

/**
 * The output of a job, read from any place while it is written. Its beginning and its end are in memory. With a store, what stands between
 * them goes there piece by piece, up to a bound; else, and behind that, it is counted and let go.
 */
export class JobOutputStore {
  readonly #bounds: JobOutputBounds;
  readonly #blobs: Pick<BlobStore, "put" | "get"> | undefined;
  readonly #head;
  readonly #tail;
  #pending;
  #spilled = 0;
  readonly #pieces: Piece[] = [];
  #totalBytes = 0;
  #writing: Promise<void> = Promise.resolve();

  constructor(bounds: JobOutputBounds, blobs: Pick<BlobStore, "put" | "get"> | undefined) {
    this.#bounds = bounds;
    this.#blobs = blobs;
    this.#head = createByteBuffer(bounds.headBytes);
    this.#tail = createTailBuffer(bounds.tailBytes);
    this.#pending = createByteBuffer(PIECE_BYTES);
  }

  get totalBytes(): number {
    return this.#totalBytes;
  }

  push(bytes: Uint8Array): void {
    this.#head.push(bytes);
    this.#spill(bytes);
    this.#totalBytes += bytes.byteLength;
    this.#tail.push(bytes);
  }

  /** What is there from `after` on, or from the next byte that is kept. */
  async read(after: number, maxBytes: number): Promise<{ readonly bytes: Buffer; readonly from: number }> {
    const first = await this.#readOnce(after, maxBytes);
    const found = [first.bytes];
    let end = first.from + first.bytes.byteLength;
    for (let left = maxBytes - first.bytes.byteLength; left > 0;) {
      const more = await this.#readOnce(end, left);
      if (more.from !== end || more.bytes.byteLength === 0) break;
      found.push(more.bytes);
      end += more.bytes.byteLength;
      left -= more.bytes.byteLength;
    }
    return { bytes: Buffer.concat(found), from: first.from };
  }

  /** The same, up to where another place begins in which it is kept. */
  async #readOnce(after: number, maxBytes: number): Promise<{ readonly bytes: Buffer; readonly from: number }> {
    const wanted = Math.min(Math.max(0, after), this.#totalBytes);
    if (wanted < this.#head.length) return { bytes: Buffer.from(this.#head.bytes().subarray(wanted, wanted + maxBytes)), from: wanted };
    const tailStart = this.#totalBytes - this.#tail.length;
    if (wanted < tailStart) {
      const spilled = await this.#readPiece(wanted, maxBytes, tailStart);
      if (spilled !== undefined) return spilled;
    }
    // Meanwhile it may have gone on.
    const start = this.#totalBytes - this.#tail.length;
    const from = Math.max(wanted, start);
    return { bytes: this.#tail.bytes().subarray(from - start, from - start + maxBytes), from };
  }

  async #readPiece(
    wanted: number,
    maxBytes: number,
    before: number,
  ): Promise<{ readonly bytes: Buffer; readonly from: number } | undefined> {
    await this.#writing;
    const piece = this.#pieces.find(({ end }) => end > wanted);
    if (piece === undefined || piece.start >= before || this.#blobs === undefined) {
      const start = this.#spilled - this.#pending.length;
      if (wanted < start || wanted >= this.#spilled) return undefined;
      return { bytes: Buffer.from(this.#pending.bytes().subarray(wanted - start, wanted - start + maxBytes)), from: wanted };
    }
    const from = Math.max(wanted, piece.start);
    const range = { start: from - piece.start, end: Math.min(piece.end, from + maxBytes) - piece.start };
    return { bytes: Buffer.from(await this.#blobs.get(piece.digest, range)), from };
  }

  #spill(bytes: Uint8Array): void {
    for (let at = 0; this.#blobs !== undefined && at < bytes.byteLength && this.#spilled < this.#bounds.maxBlobBytes;) {
      const taken = this.#pending.push(bytes.subarray(at));
      at += taken;
      this.#spilled += taken;
      if (this.#pending.length === PIECE_BYTES) this.#keepPiece(this.#blobs);
    }
  }

  #keepPiece(blobs: Pick<BlobStore, "put">): void {
    const piece = this.#pending.bytes();
    const end = this.#spilled;
    this.#pending = createByteBuffer(PIECE_BYTES);
    this.#writing = this.#writing.then(async () => {
      try {
        this.#pieces.push({ start: end - piece.byteLength, end, digest: await blobs.put(piece) });
      } catch {
        // The job goes on without this piece of its output, which is told as let go.
      }
    });
  }
}
