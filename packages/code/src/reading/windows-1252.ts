/** The characters of the bytes 0x80 to 0x9F. Five bytes without a character keep their control code, as in browsers. */
const C1 = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";
const BYTES: ReadonlyMap<string, number> = new Map([...C1].map((character, index) => [character, 0x80 + index]));

/** Decodes Windows-1252 by a table, because the `TextDecoder` of some versions of Node reads ISO 8859-1 under this name. */
export function decodeWindows1252(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  // oxlint-disable-next-line no-control-regex
  return text.replace(/[\u0080-\u009f]/g, (character) => C1[character.charCodeAt(0) - 0x80] as string);
}

/** Returns the bytes of a text. `undefined` if a character has no byte. */
export function encodeWindows1252(text: string): Uint8Array | undefined {
  const bytes = Buffer.allocUnsafe(text.length);
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    const byte = code < 0x80 || (code >= 0xa0 && code <= 0xff) ? code : BYTES.get(text[index] as string);
    if (byte === undefined) return undefined;
    bytes[index] = byte;
  }
  return bytes;
}
