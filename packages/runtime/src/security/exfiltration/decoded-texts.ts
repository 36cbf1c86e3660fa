import { gunzipSync, inflateSync } from "node:zlib";

/** Bounds of the search: an argument may be a bomb. */
const MAX_DEPTH = 3;
const MAX_BLOBS = 300;
const MAX_SEGMENTS = 8;
const MAX_UNPACKED = 4;
const MAX_BYTES = 512 * 1024;

const BASE64 = /[A-Za-z0-9+/_-]{12,}={0,2}/g;
const HEX = /(?:[0-9a-f]{2}[\s:,]?|\\x[0-9a-f]{2}){8,}/gi;
const BASE32 = /[A-Z2-7]{16,}/gi;

export interface DecodedTexts {
  readonly texts: readonly string[];
  /** Whether all of it was looked at, within the bounds. */
  readonly isWhole: boolean;
}

/**
 * What stands in a text in an encoded form, decoded: base64, base32, hexadecimal, percent and JSON escapes, backwards, gzip and zlib of them, and
 * these in each other. Names of hosts are read without their dots, as data is cut up to fit there.
 */
export function decodedTexts(text: string): DecodedTexts {
  const found = new Set<string>();
  let blobs = 0;
  let bytes = 0;
  let isWhole = text.length <= MAX_BYTES;
  const look = (encoded: string, depth: number): void => {
    const add = (decoded: string): void => {
      if (decoded.length < 4 || decoded === encoded || found.has(decoded)) return;
      if (blobs >= MAX_BLOBS || bytes + decoded.length > MAX_BYTES) {
        isWhole = false;
        return;
      }
      blobs++;
      bytes += decoded.length;
      found.add(decoded);
      if (depth < MAX_DEPTH) look(decoded, depth + 1);
    };
    for (const decoded of unescaped(encoded)) add(decoded);
    for (const blob of blobsIn(encoded)) {
      const { texts, isBomb } = textsOf(blob);
      if (isBomb) isWhole = false;
      // Words decode to something, too: a secret is text.
      for (const decoded of texts) if (/[\x20-\x7e]{6}/.test(decoded)) add(decoded);
    }
    if (depth === 1) add([...encoded].reverse().join(""));
  };
  look(text.slice(0, MAX_BYTES), 1);
  return { texts: [...found], isWhole };
}

function* unescaped(text: string): Generator<string> {
  if (/%[0-9a-f]{2}/i.test(text))
    yield text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll("%", ""), "hex").toString("utf8"));
  if (/\\u[0-9a-f]{4}/i.test(text)) yield text.replace(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
}

function* blobsIn(text: string): Generator<Buffer> {
  const joined = withoutLineEnds(text);
  for (const [run] of joined.matchAll(BASE64)) for (const data of betweenSlashes(run)) yield Buffer.from(data, "base64");
  for (const [run] of joined.matchAll(HEX)) {
    const digits = run.replace(/\\x|[\s:,]/gi, "");
    yield Buffer.from(digits, "hex");
    yield Buffer.from(digits.slice(1), "hex");
  }
  for (const [run] of joined.matchAll(BASE32)) yield fromBase32(run);
  for (const [name] of text.matchAll(/(?:[A-Za-z0-9_-]{1,63}\.){2,40}[A-Za-z]{2,24}/g)) {
    const data = name.split(".").slice(0, -2).join("");
    yield Buffer.from(data, "base64url");
    if (/^[0-9a-f]+$/i.test(data)) yield Buffer.from(data, "hex");
    if (/^[A-Z2-7]+$/i.test(data)) yield fromBase32(data);
  }
}

/** A slash is a digit of base64, and may as well stand in an address before or behind the data. */
function* betweenSlashes(run: string): Generator<string> {
  const last = run.lastIndexOf("/");
  let from = 0;
  for (let segments = 0; run.length - from >= 12 && segments < MAX_SEGMENTS; segments++) {
    yield run.slice(from);
    if (last - from >= 12) yield run.slice(from, last);
    const slash = run.indexOf("/", from);
    if (slash < 0) return;
    from = slash + 1;
  }
}

/** Base64 and hexadecimal digits are often written in lines. */
function withoutLineEnds(text: string): string {
  if (!text.includes("\n")) return text;
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  return lines
    .map((line, index) => (line.length >= 40 && /^[A-Za-z0-9+/=_-]+$/.test(line) && index < lines.length - 1 ? line : `${line}\n`))
    .join("");
}

function textsOf(blob: Buffer): { readonly texts: readonly string[]; readonly isBomb: boolean } {
  const texts = [blob.toString("utf8")];
  let isBomb = false;
  let tried = 0;
  for (let at = 0; at < blob.length - 1 && tried < MAX_UNPACKED; at++) {
    const isGzip = blob[at] === 0x1f && blob[at + 1] === 0x8b;
    const isZlib = blob[at] === 0x78 && ((0x78 << 8) | (blob[at + 1] ?? 0)) % 31 === 0;
    if (!isGzip && !isZlib) continue;
    tried++;
    try {
      const unpack = isGzip ? gunzipSync : inflateSync;
      texts.push(unpack(blob.subarray(at), { maxOutputLength: MAX_BYTES }).toString("utf8"));
    } catch (error) {
      // Else it only began like one.
      if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") isBomb = true;
    }
  }
  return { texts, isBomb };
}

function fromBase32(text: string): Buffer {
  const bytes: number[] = [];
  let bits = 0;
  let value = 0;
  for (const digit of text.toUpperCase()) {
    value = ((value << 5) | "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(digit)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((value >> bits) & 0xff);
  }
  return Buffer.from(bytes);
}
