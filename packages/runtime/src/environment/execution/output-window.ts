/** Takes any amount of output and keeps its beginning and its end. */
export interface OutputWindow {
  push(bytes: Uint8Array): void;
  readonly totalBytes: number;
  /** Bytes that were let go between the beginning and the end. */
  readonly omittedBytes: number;
  /** What was kept as UTF-8, with a line in the middle that says how much is missing. */
  text(): string;
}

const FIRST_ALLOCATION_BYTES = 4096;

/** Keeps the first `headBytes` and the last `tailBytes`, in no more memory than that, however small the pieces are. */
export function createOutputWindow(headBytes: number, tailBytes: number): OutputWindow {
  let head = Buffer.alloc(0);
  let headLength = 0;
  let tail: Buffer | undefined;
  let tailLength = 0;
  let tailAt = 0;
  let totalBytes = 0;

  const pushTail = (bytes: Uint8Array): void => {
    if (tailBytes === 0) return;
    tail ??= Buffer.allocUnsafe(tailBytes);
    const kept = bytes.byteLength > tailBytes ? bytes.subarray(bytes.byteLength - tailBytes) : bytes;
    const untilEnd = Math.min(kept.byteLength, tailBytes - tailAt);
    tail.set(kept.subarray(0, untilEnd), tailAt);
    tail.set(kept.subarray(untilEnd), 0);
    tailAt = (tailAt + kept.byteLength) % tailBytes;
    tailLength = Math.min(tailBytes, tailLength + kept.byteLength);
  };

  return {
    get totalBytes() {
      return totalBytes;
    },
    get omittedBytes() {
      return totalBytes - headLength - tailLength;
    },
    push(bytes) {
      totalBytes += bytes.byteLength;
      const toHead = Math.min(bytes.byteLength, headBytes - headLength);
      if (toHead > 0) {
        if (headLength + toHead > head.byteLength) {
          const larger = Buffer.allocUnsafe(
            Math.min(headBytes, Math.max(FIRST_ALLOCATION_BYTES, head.byteLength * 2, headLength + toHead)),
          );
          larger.set(head.subarray(0, headLength));
          head = larger;
        }
        head.set(bytes.subarray(0, toHead), headLength);
        headLength += toHead;
      }
      if (toHead < bytes.byteLength) pushTail(bytes.subarray(toHead));
    },
    text() {
      const omitted = totalBytes - headLength - tailLength;
      const first = head.subarray(0, headLength);
      const last =
        tail === undefined
          ? Buffer.alloc(0)
          : tailLength < tailBytes
            ? tail.subarray(0, tailLength)
            : Buffer.concat([tail.subarray(tailAt), tail.subarray(0, tailAt)]);
      if (omitted === 0) return Buffer.concat([first, last]).toString("utf8");
      return `${wholeEnd(first).toString("utf8")}\n[... ${omitted} bytes omitted ...]\n${wholeStart(last).toString("utf8")}`;
    },
  };
}

/** Without the beginning of a UTF-8 character whose rest was cut off. */
function wholeEnd(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.byteLength); back++) {
    const byte = bytes[bytes.byteLength - back] as number;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.subarray(0, bytes.byteLength - back) : bytes;
  }
  return bytes;
}

/** Without the end of a UTF-8 character whose beginning was cut off. */
function wholeStart(bytes: Buffer): Buffer {
  let start = 0;
  while (start < Math.min(3, bytes.byteLength) && ((bytes[start] as number) & 0xc0) === 0x80) start++;
  return bytes.subarray(start);
}
