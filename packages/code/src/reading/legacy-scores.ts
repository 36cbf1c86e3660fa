/** The likelihood that bytes are text in an encoding that is not Unicode. */
export interface LegacyScore {
  /** From 0 to 1: the mean over the characters outside of ASCII. 0 if the bytes are not valid. */
  readonly score: number;
  /** Characters outside of ASCII. */
  readonly characters: number;
}

const INVALID: LegacyScore = { score: 0, characters: 0 };
/** Fewer characters do not show which rows a language uses. */
const ENOUGH_CHARACTERS = 12;

/**
 * Rates bytes as GB18030: common Chinese characters and punctuation count whole, rare ones little.
 * @param isCut the bytes are a part of a file, so that a cut character at the end is no error
 */
export function scoreGb18030(bytes: Uint8Array, isCut: boolean): LegacyScore {
  let sum = 0;
  let characters = 0;
  let upperRows = 0;
  for (let at = 0; at < bytes.length; at++) {
    const lead = bytes[at] as number;
    if (lead < 0x80) continue;
    if (lead === 0x80 || lead === 0xff) return INVALID;
    if (at + 1 >= bytes.length) {
      if (!isCut) return INVALID;
      break;
    }
    const trail = bytes[at + 1] as number;
    characters++;
    if (trail >= 0x30 && trail <= 0x39) {
      if (at + 3 >= bytes.length) {
        if (!isCut) return INVALID;
        break;
      }
      if (!isWithin(bytes[at + 2], 0x81, 0xfe) || !isWithin(bytes[at + 3], 0x30, 0x39)) return INVALID;
      sum += 0.3;
      at += 3;
      continue;
    }
    if (trail < 0x40 || trail === 0x7f || trail === 0xff) return INVALID;
    sum += gbWeight(lead, trail);
    if (isWithin(lead, 0xc9, 0xd7) && trail >= 0xa1) upperRows++;
    at++;
  }
  if (characters === 0) return INVALID;
  // Chinese uses all rows of common characters. Korean in EUC-KR stays in the lower ones.
  const usesAllRows = characters < ENOUGH_CHARACTERS || upperRows / characters >= 0.1;
  return { score: (sum / characters) * (usesAllRows ? 1 : 0.6), characters };
}

function gbWeight(lead: number, trail: number): number {
  if (trail < 0xa1) return 0;
  if (isWithin(lead, 0xb0, 0xd7) || isWithin(lead, 0xa1, 0xa3)) return 1;
  if (isWithin(lead, 0xd8, 0xf7)) return 0.5;
  // Kana, Greek and Cyrillic: rare among Chinese characters, and half of a Japanese text in EUC-JP.
  return isWithin(lead, 0xa4, 0xa9) ? 0.3 : 0;
}

/** Rates bytes as Shift-JIS: kana, common characters and punctuation count whole, half-width kana little. */
export function scoreShiftJis(bytes: Uint8Array, isCut: boolean): LegacyScore {
  let sum = 0;
  let characters = 0;
  for (let at = 0; at < bytes.length; at++) {
    const lead = bytes[at] as number;
    if (lead < 0x80) continue;
    if (isWithin(lead, 0xa1, 0xdf)) {
      sum += 0.2;
      characters++;
      continue;
    }
    if (lead === 0x80 || lead === 0xa0 || lead > 0xfc) return INVALID;
    if (at + 1 >= bytes.length) {
      if (!isCut) return INVALID;
      break;
    }
    const trail = bytes[at + 1] as number;
    if (trail < 0x40 || trail === 0x7f || trail > 0xfc) return INVALID;
    sum += shiftJisWeight(lead, trail);
    characters++;
    at++;
  }
  return characters === 0 ? INVALID : { score: sum / characters, characters };
}

function shiftJisWeight(lead: number, trail: number): number {
  if (lead === 0x81) return 1;
  if (lead === 0x82) return isWithin(trail, 0x4f, 0xf1) ? 1 : 0;
  if (lead === 0x83) return trail <= 0x96 ? 1 : 0.1;
  if ((lead === 0x88 && trail >= 0x9f) || isWithin(lead, 0x89, 0x97)) return 1;
  if (isWithin(lead, 0x98, 0x9f) || isWithin(lead, 0xe0, 0xea)) return 0.5;
  return isWithin(lead, 0xf0, 0xf9) ? 0 : 0.1;
}

/** Rates bytes as Windows-1252: single accented letters inside of words and single signs count whole, long runs of them little. */
export function scoreWindows1252(bytes: Uint8Array): LegacyScore {
  let sum = 0;
  let characters = 0;
  for (let at = 0; at < bytes.length;) {
    if ((bytes[at] as number) < 0x80) {
      at++;
      continue;
    }
    let end = at;
    while (end < bytes.length && (bytes[end] as number) >= 0x80) end++;
    const touchesWord = isLetter(bytes[at - 1]) || isLetter(bytes[end]);
    for (let index = at; index < end; index++) sum += westernWeight(bytes[index] as number, end - at, touchesWord);
    characters += end - at;
    at = end;
  }
  return characters === 0 ? INVALID : { score: sum / characters, characters };
}

/** Bytes without a character in Windows-1252. */
const UNDEFINED_BYTES: ReadonlySet<number> = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d]);

function westernWeight(byte: number, run: number, touchesWord: boolean): number {
  if (UNDEFINED_BYTES.has(byte)) return 0;
  if (run >= 4) return 0.1;
  if (run === 3) return 0.5;
  if (byte < 0xc0) return run === 1 || touchesWord ? 0.8 : 0.4;
  if (touchesWord) return 1;
  return run === 1 ? 0.9 : 0.4;
}

function isLetter(byte: number | undefined): boolean {
  return isWithin(byte, 0x41, 0x5a) || isWithin(byte, 0x61, 0x7a);
}

function isWithin(byte: number | undefined, low: number, high: number): boolean {
  return byte !== undefined && byte >= low && byte <= high;
}
