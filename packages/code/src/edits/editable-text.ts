import { isUtf8 } from "node:buffer";
import { detectEncoding } from "../reading/detect-encoding.ts";
import { encodeText } from "../reading/encode-text.ts";
import { type DetectedEncoding, encodingName, type TextEncoding } from "../reading/text-encoding.ts";
import { decodeWindows1252 } from "../reading/windows-1252.ts";
import { characterBytes, decodeStrayBytes, strayBytes, type TextBytes } from "./text-bytes.ts";

/** A replacement in a text: from `start` to before `end`, in UTF-16 units. */
export interface TextEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A text file that can be edited: its text, and the way back to bytes. */
export interface EditableText {
  /** The text without a byte order mark. Bytes that are not valid are unpaired surrogates in it. */
  readonly text: string;
  readonly encoding: TextEncoding;
  /**
   * Returns the bytes of the file with these replacements, which do not overlap. Bytes outside of them are the same.
   * A string is the reason why a text cannot be written in the encoding of the file.
   */
  apply(edits: readonly TextEdit[]): Buffer | string;
}

/** Returns the text of a file, or `undefined` if the file is binary. */
export function readEditable(content: Uint8Array): EditableText | undefined {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const detected = detectEncoding(bytes);
  if (detected === undefined) return undefined;
  const { encoding, markBytes } = detected;
  const body = bytes.subarray(markBytes);
  switch (encoding) {
    case "utf-8": {
      if (!isUtf8(body)) return editable(bytes, detected, decodeStrayBytes(body), strayBytes);
      const text = body.toString("utf8");
      const isAscii = text.length === body.length;
      return editable(bytes, detected, text, (from, to) => (isAscii ? to - from : Buffer.byteLength(text.slice(from, to), "utf8")));
    }
    case "utf-16le":
    case "utf-16be": {
      if (body.length % 2 !== 0) return undefined;
      const text = (encoding === "utf-16be" ? Buffer.from(body).swap16() : body).toString("utf16le");
      return editable(bytes, detected, text, (from, to) => 2 * (to - from));
    }
    case "gb18030":
    case "shift_jis": {
      const text = decodeWhole(body, encoding);
      return text === undefined ? ofSingleBytes(bytes) : editable(bytes, detected, text, characterBytes(body, text, encoding));
    }
    case "windows-1252":
      return ofSingleBytes(bytes, detected);
  }
}

function decodeWhole(body: Buffer, encoding: TextEncoding): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
}

function editable(
  bytes: Buffer,
  { encoding, markBytes, confidence }: DetectedEncoding,
  text: string,
  bytesBetween: TextBytes,
): EditableText {
  const encode = (given: string): Uint8Array | string => {
    const strange = confidence === "guess" ? strangeIn(given, text) : undefined;
    return strange === undefined ? (encodeText(given, encoding) ?? reasonLacking(given, encoding)) : reasonStrange(strange);
  };
  return {
    text,
    encoding,
    apply: (edits) =>
      splice(bytes, edits, {
        bytesBetween: (from, to) => bytesBetween(from, to, text),
        base: markBytes,
        encode,
      }),
  };
}

function reasonLacking(text: string, encoding: TextEncoding): string {
  const lacking = [...text].find((character) => encodeText(character, encoding) === undefined);
  return `the file is ${encodingName(encoding)}, in which ${JSON.stringify(lacking)} cannot be written. Use another character, or convert the file with a command first`;
}

/** The first character outside of ASCII that a file does not have. */
function strangeIn(given: string, text: string): string | undefined {
  return [...given].find((character) => character > "\u007f" && !text.includes(character));
}

function reasonStrange(character: string): string {
  return `the encoding of the file is not known for certain, so that ${JSON.stringify(character)} cannot be written. Use ASCII, or convert the file to UTF-8 with a command first`;
}

const GUESSED: DetectedEncoding = { encoding: "windows-1252", confidence: "guess", markBytes: 0 };

/**
 * A text of one byte a character, which also is the reading of bytes in an encoding that is not known. There a character is written only if the file has it, or
 * if the text looks like one of a language that Latin-1 is for.
 */
function ofSingleBytes(bytes: Buffer, detected: DetectedEncoding = GUESSED): EditableText {
  const text = decodeWindows1252(bytes);
  // Text in Cyrillic, Greek or an encoding of more bytes has runs of such bytes.
  const isWestern = detected.confidence !== "guess" || !/[\x80-\x9f]|[\xa0-\xff]{3}/.test(bytes.toString("latin1")); // oxlint-disable-line no-control-regex
  const encode = (given: string): Uint8Array | string => {
    const encoded = encodeText(given, "windows-1252");
    if (encoded === undefined) return reasonLacking(given, "windows-1252");
    const strange = isWestern ? undefined : strangeIn(given, text);
    return strange === undefined ? encoded : reasonStrange(strange);
  };
  return {
    text,
    encoding: "windows-1252",
    apply(edits) {
      if (!isWestern && edits.some(({ start, end }) => mayCutCharacter(bytes, start) || mayCutCharacter(bytes, end)))
        return "its encoding is not known, and the edit may begin or end within a character of two bytes. Convert the file to UTF-8 with a command first";
      return splice(bytes, edits, { bytesBetween: (from, to) => to - from, base: 0, encode });
    },
  };
}

/** True if a byte may be the second one of a character. */
function mayCutCharacter(bytes: Buffer, place: number): boolean {
  let leads = 0;
  while (leads < place && (bytes[place - 1 - leads] as number) >= 0x80) leads++;
  const next = bytes[place] ?? 0;
  return leads % 2 === 1 && next >= 0x40;
}

interface Splicing {
  /** The bytes that a part of the text takes. */
  bytesBetween(from: number, to: number): number;
  /** The byte at which the text begins. */
  readonly base: number;
  encode(text: string): Uint8Array | string;
}

function splice(bytes: Buffer, edits: readonly TextEdit[], { bytesBetween, base, encode }: Splicing): Buffer | string {
  const pieces: Uint8Array[] = [];
  let unit = 0;
  let byte = base;
  let kept = 0;
  for (const { start, end, text } of edits.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    if (start < unit) throw new RangeError("Replacements of a text must not overlap.");
    const from = byte + bytesBetween(unit, start);
    const to = from + bytesBetween(start, end);
    const encoded = encode(text);
    if (typeof encoded === "string") return encoded;
    pieces.push(bytes.subarray(kept, from), encoded);
    kept = byte = to;
    unit = end;
  }
  pieces.push(bytes.subarray(kept));
  return Buffer.concat(pieces);
}
