/** Bytes in one piece, which grows up to a limit. */
export interface ByteBuffer {
  /** Takes as much as there is room for. @returns how much that was */
  push(bytes: Uint8Array): number;
  readonly length: number;
  /** What it holds, not a copy. */
  bytes(): Buffer;
}

const FIRST_ALLOCATION_BYTES = 4096;

export function createByteBuffer(maxBytes: number): ByteBuffer {
  let held = Buffer.alloc(0);
  let length = 0;
  return {
    get length() {
      return length;
    },
    push(bytes) {
      const taken = Math.min(bytes.byteLength, maxBytes - length);
      if (taken <= 0) return 0;
      if (length + taken > held.byteLength) {
        const larger = Buffer.allocUnsafe(Math.min(maxBytes, Math.max(FIRST_ALLOCATION_BYTES, held.byteLength * 2, length + taken)));
        larger.set(held.subarray(0, length));
        held = larger;
      }
      held.set(bytes.subarray(0, taken), length);
      length += taken;
      return taken;
    },
    bytes: () => held.subarray(0, length),
  };
}
