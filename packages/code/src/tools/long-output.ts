import type { BlobStore, Digest } from "@keelson/protocol";
import { createOutputWindow } from "keelson/environment";
import { counted } from "./text-lines.ts";

/** Text of a command of which the model is shown the beginning and the end, and may read the rest. */
export interface LongOutput {
  push(text: string): void;
  shown(): string;
  /** Keeps what `shown` leaves out. @returns how it is read, for the model; nothing where all is shown, or nowhere is a place for it */
  keepRest(): Promise<string | undefined>;
}

export interface LongOutputOptions {
  readonly headBytes: number;
  readonly tailBytes: number;
  readonly blobs: Pick<BlobStore, "put"> | undefined;
  /** More than that is not kept. */
  readonly maxKeptBytes?: number;
}

const MAX_KEPT_BYTES = 16 * 1024 * 1024;

export function createLongOutput({ headBytes, tailBytes, blobs, maxKeptBytes = MAX_KEPT_BYTES }: LongOutputOptions): LongOutput {
  const window = createOutputWindow(headBytes, tailBytes);
  const kept: Buffer[] = [];
  let keptBytes = 0;
  return {
    push(text) {
      const bytes = Buffer.from(text, "utf8");
      window.push(bytes);
      if (blobs === undefined || keptBytes >= maxKeptBytes) return;
      const taken = bytes.subarray(0, maxKeptBytes - keptBytes);
      kept.push(taken);
      keptBytes += taken.byteLength;
    },
    shown: () => window.text(),
    async keepRest() {
      if (blobs === undefined || window.omittedBytes === 0) return undefined;
      try {
        const whole = Buffer.concat(kept);
        const id = await blobs.put(whole);
        let offset = headBytes;
        while (((whole[offset] ?? 0) & 0xc0) === 0x80) offset--;
        const bound = keptBytes < window.totalBytes ? `; only the first ${counted(keptBytes, "byte")} are kept` : "";
        return `the middle is read with bash_output, id "${id}", offset ${offset}${bound}`;
      } catch (error) {
        // The command ran all the same.
        return `the middle could not be kept: ${error instanceof Error ? error.message : String(error)}`;
      }
    },
  };
}

export interface OutputPage {
  readonly text: string;
  /** Where the page ends, in bytes. */
  readonly next: number;
  readonly isLast: boolean;
}

/** A page of what `keepRest` kept, in whole characters. */
export async function readLongOutput(
  blobs: Pick<BlobStore, "get">,
  id: Digest,
  { offset, maxBytes }: { readonly offset: number; readonly maxBytes: number },
): Promise<OutputPage> {
  // One byte more tells whether there is more.
  const found = await blobs.get(id, { start: offset, end: offset + maxBytes + 1 });
  const isLast = found.byteLength <= maxBytes;
  const page = isLast ? found : found.subarray(0, maxBytes);
  let begin = 0;
  while (begin < Math.min(3, page.byteLength) && ((page[begin] ?? 0) & 0xc0) === 0x80) begin++;
  // What `stream` holds back is a character that the next page begins with.
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(page.subarray(begin), { stream: true });
  return { text, next: isLast ? offset + page.byteLength : offset + begin + Buffer.byteLength(text), isLast };
}
