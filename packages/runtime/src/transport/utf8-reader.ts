/**
 * Decodes UTF-8 that arrives in pieces cut anywhere, as one streaming `TextDecoder` would (a leading byte order mark dropped,
 * bytes that are no UTF-8 replaced), but several times faster than that.
 */
export class Utf8Reader {
  /** The beginning of a character whose rest has not come. */
  #partial: Buffer | undefined;
  #begun = false;

  push(bytes: Uint8Array): string {
    let buffer = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (this.#partial !== undefined) {
      buffer = Buffer.concat([this.#partial, buffer]);
      this.#partial = undefined;
    }
    // Events end with a line end: most pieces do, too.
    const endsWhole = (buffer[buffer.length - 1] ?? 0) < 0x80;
    const end = endsWhole ? buffer.length : buffer.length - partialLength(buffer);
    if (end < buffer.length) this.#partial = Buffer.from(buffer.subarray(end));
    const text = buffer.toString("utf8", 0, end);
    if (this.#begun || text === "") return text;
    this.#begun = true;
    return text.charCodeAt(0) === 0xfe_ff ? text.slice(1) : text;
  }

  /** What is left at the end of input: a character that was cut off becomes U+FFFD. */
  end(): string {
    const rest = this.#partial;
    this.#partial = undefined;
    return rest === undefined ? "" : rest.toString("utf8");
  }
}

/** How many bytes at the end could be the beginning of a character. */
function partialLength(buffer: Buffer): number {
  for (let back = 1; back <= 3 && back <= buffer.length; back += 1) {
    const byte = buffer[buffer.length - back] as number;
    if (byte < 0x80) return 0;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > back ? back : 0;
  }
  return 0;
}
