import type { BlobStore, Digest } from "@keelson/protocol";
import { createByteBuffer } from "./byte-buffer.ts";
import { createOutputWindow } from "./output-window.ts";

// Of what is kept, the part that is the beginning; errors and summaries stand at the end.
const HEAD_SHARE = 0.75;
const MAX_BLOB_BYTES = 16 * 1024 * 1024;

/** What a stream of a command wrote: head and tail in memory, and the whole in a blob where that is not all. */
export interface KeptOutput {
  push(bytes: Uint8Array): void;
  readonly totalBytes: number;
  text(): string;
  /** Keeps the whole, where `text` has less than that. Nothing without a store, of more than 16 MiB, or where it can't be kept: the command ran all the same. */
  blob(): Promise<Digest | undefined>;
}

export function createKeptOutput(maxBytes: number, blobs: Pick<BlobStore, "put"> | undefined): KeptOutput {
  const head = Math.ceil(maxBytes * HEAD_SHARE);
  const window = createOutputWindow(head, maxBytes - head);
  const whole = createByteBuffer(blobs === undefined ? 0 : MAX_BLOB_BYTES);
  return {
    get totalBytes() {
      return window.totalBytes;
    },
    push(bytes) {
      window.push(bytes);
      whole.push(bytes);
    },
    text: () => window.text(),
    async blob() {
      if (blobs === undefined || window.omittedBytes === 0 || whole.length < window.totalBytes) return undefined;
      return blobs.put(whole.bytes()).catch(() => undefined);
    },
  };
}
