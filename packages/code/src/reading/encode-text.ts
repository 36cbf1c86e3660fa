import type { TextEncoding } from "./text-encoding.ts";
import { encodeWindows1252 } from "./windows-1252.ts";

const MARKS: { readonly [encoding: string]: readonly number[] } = {
  "utf-8": [0xef, 0xbb, 0xbf],
  "utf-16le": [0xff, 0xfe],
  "utf-16be": [0xfe, 0xff],
  "gb18030": [0x84, 0x31, 0x95, 0x33],
};

/**
 * Returns the bytes of a text, so that `decodeText` in the same encoding gives the text again. `undefined` if the encoding lacks a character.
 * @param options.hasMark write a byte order mark
 */
export function encodeText(
  text: string,
  encoding: TextEncoding,
  { hasMark = false }: { readonly hasMark?: boolean } = {},
): Uint8Array | undefined {
  const bytes = encodeCharacters(text, encoding);
  const mark = hasMark ? MARKS[encoding] : undefined;
  return bytes === undefined || mark === undefined ? bytes : Buffer.concat([Buffer.from(mark), bytes]);
}

function encodeCharacters(text: string, encoding: TextEncoding): Uint8Array | undefined {
  switch (encoding) {
    case "utf-8":
      return text.isWellFormed() ? Buffer.from(text, "utf8") : undefined;
    case "utf-16le":
      return text.isWellFormed() ? Buffer.from(text, "utf16le") : undefined;
    case "utf-16be":
      return text.isWellFormed() ? Buffer.from(text, "utf16le").swap16() : undefined;
    case "windows-1252":
      return encodeWindows1252(text);
    case "gb18030":
    case "shift_jis":
      return encodeMultibyte(text, encoding);
  }
}

type ByteTable = ReadonlyMap<string, readonly number[]>;
const tables = new Map<string, ByteTable>();

function encodeMultibyte(text: string, encoding: "gb18030" | "shift_jis"): Uint8Array | undefined {
  let table = tables.get(encoding);
  if (table === undefined) tables.set(encoding, (table = makeTable(encoding)));
  const bytes: number[] = [];
  for (const character of text) {
    const code = character.codePointAt(0) as number;
    const found = code < 0x80 ? [code] : (table.get(character) ?? (encoding === "gb18030" ? supplementaryBytes(code) : undefined));
    if (found === undefined) return undefined;
    bytes.push(...found);
  }
  return Uint8Array.from(bytes);
}

/** Decodes every sequence of bytes once. The first sequence of a character is the one that is written. */
function makeTable(encoding: "gb18030" | "shift_jis"): ByteTable {
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  const table = new Map<string, readonly number[]>();
  const add = (...bytes: readonly number[]): void => {
    try {
      const character = decoder.decode(Uint8Array.from(bytes));
      if ([...character].length === 1 && !table.has(character)) table.set(character, bytes);
    } catch {
      // The sequence has no character.
    }
  };
  for (let lead = 0x80; lead <= 0xff; lead++) {
    if (encoding === "shift_jis") add(lead);
    for (let trail = 0x40; trail <= 0xfe; trail++) {
      // Rows of NEC and of users repeat characters of other rows, which other programs prefer.
      if (trail !== 0x7f && !(encoding === "shift_jis" && (lead === 0xed || lead === 0xee))) add(lead, trail);
    }
  }
  if (encoding === "gb18030")
    for (let first = 0x81; first <= 0x84; first++)
      for (let second = 0x30; second <= 0x39; second++)
        for (let third = 0x81; third <= 0xfe; third++) for (let fourth = 0x30; fourth <= 0x39; fourth++) add(first, second, third, fourth);
  return table;
}

/** The four bytes of a character above U+FFFF, which GB18030 counts through from 90 30 81 30. */
function supplementaryBytes(code: number): readonly number[] | undefined {
  if (code < 0x10000) return undefined;
  const index = code - 0x10000;
  return [
    0x90 + Math.floor(index / 12600),
    0x30 + (Math.floor(index / 1260) % 10),
    0x81 + (Math.floor(index / 10) % 126),
    0x30 + (index % 10),
  ];
}
