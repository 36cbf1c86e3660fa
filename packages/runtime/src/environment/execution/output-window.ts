import { createByteBuffer } from "./byte-buffer.ts";
import { createTailBuffer } from "./tail-buffer.ts";
import { wholeEnd, wholeStart } from "./utf8-borders.ts";

/** Takes any amount of output and keeps its beginning and its end. */
export interface OutputWindow {
  push(bytes: Uint8Array): void;
  readonly totalBytes: number;
  /** Bytes that were let go between the beginning and the end. */
  readonly omittedBytes: number;
  /** What was kept as UTF-8, with a line in the middle that says how much is missing. */
  text(): string;
}

/** Keeps the first `headBytes` and the last `tailBytes`, in no more memory than that, however small the pieces are. */
export function createOutputWindow(headBytes: number, tailBytes: number): OutputWindow {
  const head = createByteBuffer(headBytes);
  const tail = createTailBuffer(tailBytes);
  let totalBytes = 0;

  return {
    get totalBytes() {
      return totalBytes;
    },
    get omittedBytes() {
      return totalBytes - head.length - tail.length;
    },
    push(bytes) {
      totalBytes += bytes.byteLength;
      const toHead = head.push(bytes);
      if (toHead < bytes.byteLength) tail.push(bytes.subarray(toHead));
    },
    text() {
      const omitted = totalBytes - head.length - tail.length;
      const first = head.bytes();
      const last = tail.bytes();
      if (omitted === 0) return Buffer.concat([first, last]).toString("utf8");
      return `${wholeEnd(first).toString("utf8")}\n[... ${omitted} bytes omitted ...]\n${wholeStart(last).toString("utf8")}`;
    },
  };
}
