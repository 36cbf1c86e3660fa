/** The last of any amount of bytes. */
export interface TailBuffer {
  push(bytes: Uint8Array): void;
  readonly length: number;
  /** A copy, the oldest first. */
  bytes(): Buffer;
}

export function createTailBuffer(maxBytes: number): TailBuffer {
  let ring: Buffer | undefined;
  let length = 0;
  /** Where the next byte goes; behind it stands the oldest once the ring is full. */
  let next = 0;
  return {
    get length() {
      return length;
    },
    push(bytes) {
      if (maxBytes === 0) return;
      ring ??= Buffer.allocUnsafe(maxBytes);
      const kept = bytes.byteLength > maxBytes ? bytes.subarray(bytes.byteLength - maxBytes) : bytes;
      const untilEnd = Math.min(kept.byteLength, maxBytes - next);
      ring.set(kept.subarray(0, untilEnd), next);
      ring.set(kept.subarray(untilEnd), 0);
      next = (next + kept.byteLength) % maxBytes;
      length = Math.min(maxBytes, length + kept.byteLength);
    },
    bytes() {
      if (ring === undefined) return Buffer.alloc(0);
      if (length < maxBytes) return Buffer.from(ring.subarray(0, length));
      return Buffer.concat([ring.subarray(next), ring.subarray(0, next)]);
    },
  };
}
