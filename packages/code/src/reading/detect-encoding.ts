import { isUtf8 } from "node:buffer";
import { type LegacyScore, scoreGb18030, scoreShiftJis, scoreWindows1252 } from "./legacy-scores.ts";
import type { DetectedEncoding, EncodingConfidence, TextEncoding } from "./text-encoding.ts";

/** Bytes among which a zero means binary, as it does for git, unless they are UTF-16. */
const BINARY_PROBE_BYTES = 8192;
/** Enough to tell encodings apart, and the bound of what it costs. */
const SAMPLE_BYTES = 64 * 1024;
/** A multibyte encoding whose characters are rarer than this is not taken. */
const LEAST_SCORE = 0.6;
const LIKELY_SCORE = 0.75;
const LIKELY_DISTANCE = 0.25;
/** Fewer characters can be anything. */
const LIKELY_CHARACTERS = 4;
/** Text has fewer control characters than this share. */
const MAX_CONTROL_SHARE = 0.01;
/** Damaged UTF-8 has fewer broken places than this share of its characters outside of ASCII. */
const MAX_BROKEN_SHARE = 0.1;

const MARKS: readonly (readonly [encoding: TextEncoding, mark: readonly number[]])[] = [
  ["utf-8", [0xef, 0xbb, 0xbf]],
  ["utf-16le", [0xff, 0xfe]],
  ["utf-16be", [0xfe, 0xff]],
  ["gb18030", [0x84, 0x31, 0x95, 0x33]],
];
const UTF_32_MARKS: readonly (readonly number[])[] = [
  [0xff, 0xfe, 0, 0],
  [0, 0, 0xfe, 0xff],
];

/**
 * Recognises the encoding of a text by its bytes: a byte order mark, then UTF-8, then UTF-16 without a mark, then the encoding whose common
 * characters the bytes are. `undefined` if the bytes are not text.
 */
export function detectEncoding(content: Uint8Array): DetectedEncoding | undefined {
  if (UTF_32_MARKS.some((mark) => startsWith(content, mark))) return undefined;
  const marked = MARKS.find(([, mark]) => startsWith(content, mark));
  if (marked !== undefined) return { encoding: marked[0], confidence: "certain", markBytes: marked[1].length };
  if (content.subarray(0, BINARY_PROBE_BYTES).includes(0)) return detectUtf16(content);
  if (isUtf8(content)) return { encoding: "utf-8", confidence: "certain", markBytes: 0 };
  const sample = content.subarray(0, SAMPLE_BYTES);
  if (isDamagedUtf8(sample)) return { encoding: "utf-8", confidence: "likely", markBytes: 0 };
  return detectLegacy(sample, content.byteLength > sample.byteLength);
}

function startsWith(content: Uint8Array, mark: readonly number[]): boolean {
  return mark.every((byte, index) => content[index] === byte);
}

function detectUtf16(content: Uint8Array): DetectedEncoding | undefined {
  if (content.byteLength % 2 !== 0) return undefined;
  const sample = content.subarray(0, SAMPLE_BYTES);
  const fitting = (["utf-16le", "utf-16be"] as const).filter((encoding) => isPlausibleUtf16(sample, encoding));
  return fitting.length === 1 ? { encoding: fitting[0] as TextEncoding, confidence: "likely", markBytes: 0 } : undefined;
}

function isPlausibleUtf16(sample: Uint8Array, encoding: "utf-16le" | "utf-16be"): boolean {
  // `stream` leaves out a character that the end of the sample cuts.
  const text = decodeOrNothing(sample, encoding);
  // oxlint-disable-next-line no-control-regex
  if (text === undefined || /[\u0000-\u0007\u000e-\u001a\u001c-\u001f\p{Cn}\p{Co}\p{Cs}]/u.test(text)) return false;
  let plain = 0;
  let blanks = 0;
  for (const character of text) {
    if (character === "\n" || character === " " || character === "\r") blanks++;
    if (character < "\u007f") plain++;
  }
  return text !== "" && (blanks > 0 || plain / text.length >= 0.6);
}

function decodeOrNothing(sample: Uint8Array, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(sample, { stream: true });
  } catch {
    return undefined;
  }
}

function isDamagedUtf8(sample: Uint8Array): boolean {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(sample, { stream: true });
  let broken = 0;
  let others = 0;
  for (const character of text) {
    if (character === "\uFFFD") broken++;
    else if (character > "\u007f") others++;
  }
  return others > 0 && broken / (broken + others) <= MAX_BROKEN_SHARE;
}

function detectLegacy(sample: Uint8Array, isCut: boolean): DetectedEncoding | undefined {
  const scores: readonly (readonly [TextEncoding, LegacyScore])[] = [
    ["gb18030", scoreGb18030(sample, isCut)],
    ["shift_jis", scoreShiftJis(sample, isCut)],
    ["windows-1252", scoreWindows1252(sample)],
  ];
  const fitting = scores.filter(([encoding, { score }]) => encoding === "windows-1252" || score >= LEAST_SCORE);
  const [encoding, best] = fitting.reduce((a, b) => (b[1].score > a[1].score ? b : a));
  const second = Math.max(...scores.filter(([other]) => other !== encoding).map(([, { score }]) => score));
  const isLikely = best.score >= LIKELY_SCORE && best.score - second >= LIKELY_DISTANCE && best.characters >= LIKELY_CHARACTERS;
  const confidence: EncodingConfidence = isLikely ? "likely" : "guess";
  if (confidence === "guess" && controlShare(sample) > MAX_CONTROL_SHARE) return undefined;
  return { encoding, confidence, markBytes: 0 };
}

/** The share of control characters that no text file uses. */
function controlShare(sample: Uint8Array): number {
  let controls = 0;
  for (const byte of sample) if (byte < 0x08 || (byte > 0x0d && byte < 0x20 && byte !== 0x1b) || byte === 0x7f) controls++;
  return controls / sample.byteLength;
}
