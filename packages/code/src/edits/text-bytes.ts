import { isUtf8 } from "node:buffer";

/** Returns the number of bytes that a part of a text takes in its file. Parts are asked for in ascending order. */
export type TextBytes = (from: number, to: number, text: string) => number;

// Bytes that are no UTF-8 become these units, as in Python's "surrogateescape".
const ESCAPE = 0xdc00;

/** Decodes UTF-8 with some bytes that are not valid: each is one unit of the text, so that the way back is kept. */
export function decodeStrayBytes(bytes: Buffer): string {
  let text = "";
  let plain = 0;
  for (let at = 0; at < bytes.length;) {
    const lead = bytes[at] as number;
    const length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
    const sequence = bytes.subarray(at, at + length);
    if (length > 0 && sequence.length === length && (length === 1 || isUtf8(sequence))) {
      at += length;
      continue;
    }
    text += bytes.toString("utf8", plain, at) + String.fromCharCode(ESCAPE + lead);
    plain = ++at;
  }
  return text + bytes.toString("utf8", plain);
}

/** Counts the bytes of a text that `decodeStrayBytes` made. */
export function strayBytes(from: number, to: number, text: string): number {
  let length = 0;
  for (const character of text.slice(from, to)) {
    const code = character.codePointAt(0) as number;
    const isStray = code >= ESCAPE + 0x80 && code <= ESCAPE + 0xff;
    length += isStray || code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x1_0000 ? 3 : 4;
  }
  return length;
}

/** Counts bytes along the characters of a file in an encoding of several bytes a character. */
export function characterBytes(bytes: Buffer, text: string, encoding: "gb18030" | "shift_jis"): TextBytes {
  let [unit, byte] = [0, 0];
  const advance = (to: number): number => {
    if (to < unit) [unit, byte] = [0, 0];
    while (unit < to) {
      byte += characterLength(encoding, bytes[byte] as number, bytes[byte + 1] ?? 0);
      unit += (text.codePointAt(unit) as number) > 0xffff ? 2 : 1;
    }
    return byte;
  };
  return (from, to) => {
    const start = advance(from);
    return advance(to) - start;
  };
}

function characterLength(encoding: "gb18030" | "shift_jis", lead: number, next: number): number {
  if (lead < 0x80) return 1;
  if (encoding === "shift_jis") return (lead >= 0x81 && lead <= 0x9f) || (lead >= 0xe0 && lead <= 0xfc) ? 2 : 1;
  return next >= 0x30 && next <= 0x39 ? 4 : 2;
}
