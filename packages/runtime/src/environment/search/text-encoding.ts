import { isUtf8 } from "node:buffer";

/** `bytes`: neither UTF-8 nor another encoding that is recognised. */
export type TextEncoding = "utf-8" | "utf-16le" | "utf-16be" | "gb18030" | "shift_jis" | "windows-1252" | "bytes" | "binary";

// The same number as in git: a NUL this early means binary, unless the text is UTF-16.
const BINARY_PROBE_BYTES = 8192;
/** Enough to recognise an encoding. */
const SAMPLE_BYTES = 64 * 1024;
const COMMON_SHARE = 0.9;
/** A text of fewer western letters than this must hold nothing else: a few NULs among other bytes can be anything. */
const TELLING_LETTERS = 8;
const LINE_FEED = 10;

/** Recognises the encoding of a text by its bytes. */
export function detectEncoding(bytes: Buffer): TextEncoding {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return bytes[2] === 0 && bytes[3] === 0 ? "binary" : "utf-16le"; // or UTF-32
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  if (bytes.subarray(0, BINARY_PROBE_BYTES).includes(0)) return utf16WithoutMark(bytes.subarray(0, BINARY_PROBE_BYTES)) ?? "binary";
  return isUtf8(bytes) ? "utf-8" : eightBitEncoding(bytes);
}

/** Returns the text in UTF-8, without a byte order mark. The encodings `utf-8`, `bytes` and `binary` stay as they are. */
export function toUtf8(bytes: Buffer, encoding: TextEncoding): Buffer {
  switch (encoding) {
    case "utf-8":
      return withoutMark(bytes);
    case "bytes":
    case "binary":
      return bytes;
    default:
      return Buffer.from(new TextDecoder(encoding).decode(bytes));
  }
}

/** Does the same with the pieces of one text. */
export function createPieceDecoder(encoding: TextEncoding): (piece: Buffer) => Buffer {
  if (encoding === "utf-8" || encoding === "bytes" || encoding === "binary") {
    let isFirst = encoding === "utf-8";
    return (piece) => {
      const text = isFirst ? withoutMark(piece) : piece;
      isFirst = false;
      return text;
    };
  }
  const decoder = new TextDecoder(encoding);
  return (piece) => Buffer.from(decoder.decode(piece, { stream: true }));
}

function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/** Recognises UTF-16 of mostly western letters: one byte of at least half of the pairs is NUL, of each pair in a short text, and never the other. */
function utf16WithoutMark(bytes: Buffer): "utf-16le" | "utf-16be" | undefined {
  const pairs = bytes.byteLength >> 1;
  let low = 0;
  let high = 0;
  for (let index = 0; index < pairs * 2; index += 2) {
    if (bytes[index] === 0) low++;
    if (bytes[index + 1] === 0) high++;
  }
  if (bytes.byteLength % 2 === 1 && bytes.byteLength < BINARY_PROBE_BYTES) return undefined;
  const isTelling = (letters: number): boolean => letters === pairs || (letters >= TELLING_LETTERS && letters >= pairs / 2);
  const encoding = low === 0 && isTelling(high) ? "utf-16le" : high === 0 && isTelling(low) ? "utf-16be" : undefined;
  if (encoding === undefined || pairs < 2) return undefined;
  const text = new TextDecoder(encoding).decode(bytes.subarray(0, pairs * 2));
  // The sample may end with half a character.
  return /[\0-\x08\x0e-\x1a\x1c-\x1f\ufffe\uffff]/.test(text) || !text.slice(0, -1).isWellFormed() ? undefined : encoding;
}

/** Recognises encodings that agree with ASCII. Each is taken only if all bytes fit and nearly all characters are common ones. */
function eightBitEncoding(bytes: Buffer): TextEncoding {
  const sample = sampleOf(bytes);
  const japanese = decoded(sample, "shift_jis");
  if (japanese !== undefined && isJapanese(japanese)) return "shift_jis";
  if (isCommonChinese(sample) && decoded(sample, "gb18030") !== undefined) return "gb18030";
  return isWestern(sample) ? "windows-1252" : "bytes";
}

/** Lines from the beginning. */
function sampleOf(bytes: Buffer): Buffer {
  if (bytes.byteLength <= SAMPLE_BYTES) return bytes;
  // The first line with other bytes than ASCII may be anywhere.
  const first = bytes.findIndex((byte) => byte >= 0x80);
  const start = Math.max(0, bytes.lastIndexOf(LINE_FEED, first) + 1);
  const part = bytes.subarray(start, start + SAMPLE_BYTES);
  const end = start + SAMPLE_BYTES >= bytes.byteLength ? part.byteLength : part.lastIndexOf(LINE_FEED) + 1;
  return part.subarray(0, end === 0 ? part.byteLength : end);
}

function decoded(bytes: Buffer, encoding: "shift_jis" | "gb18030"): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return undefined; // some bytes do not fit
  }
}

function isJapanese(text: string): boolean {
  let kana = 0;
  let common = 0;
  let all = 0;
  for (const character of text) {
    const code = character.codePointAt(0) as number;
    if (code < 0x80) continue;
    all++;
    if (code >= 0x3040 && code <= 0x30ff) kana++;
    if ((code >= 0x3000 && code <= 0x30ff) || (code >= 0x4e00 && code <= 0x9fff) || (code >= 0xff01 && code <= 0xff5e)) common++;
  }
  return all > 0 && common >= all * COMMON_SHARE && kana >= all * 0.1;
}

/** True if nearly all characters are of GB 2312, which has the common ones of simplified Chinese. */
function isCommonChinese(bytes: Buffer): boolean {
  let common = 0;
  let all = 0;
  for (let index = 0; index < bytes.byteLength; index++) {
    const lead = bytes[index] as number;
    if (lead < 0x80) continue;
    all++;
    const trail = bytes[++index] ?? 0;
    if (lead >= 0xa1 && lead <= 0xf7 && trail >= 0xa1) common++;
  }
  return all > 0 && common >= all * COMMON_SHARE;
}

/** True if each byte is a letter or a sign of western texts. */
function isWestern(bytes: Buffer): boolean {
  return bytes.every(
    (byte) =>
      byte < 0x80 ||
      (byte >= 0xa0 && byte !== 0xd7 && byte !== 0xf7 && byte !== 0xff) ||
      (byte >= 0x91 && byte <= 0x97) ||
      [0x80, 0x82, 0x84, 0x85, 0x8a, 0x8c, 0x8e, 0x99, 0x9a, 0x9c, 0x9e, 0x9f].includes(byte),
  );
}
