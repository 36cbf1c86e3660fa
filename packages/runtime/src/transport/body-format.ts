/** What a response is, told by its first byte that is no blank: the content type is only a hint, and often wrong. */
export type BodyFormat = "object" | "array" | "events";

/** `undefined`: nothing but blanks so far. */
export function sniffFormat(bytes: Uint8Array): BodyFormat | undefined {
  let at = 0;
  // A byte order mark.
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) at = 3;
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d) continue;
    return byte === 0x7b ? "object" : byte === 0x5b ? "array" : "events";
  }
  return undefined;
}
