import { createPieceDecoder, detectEncoding, type TextEncoding } from "./text-encoding.ts";

/** A part of a text, in whole lines. Only the lines `from` to before `to` are searched; the others are context. */
export interface TextWindow {
  readonly bytes: Buffer;
  readonly encoding: TextEncoding;
  /** The number of lines of the text before it. */
  readonly linesBefore: number;
  readonly from: number;
  readonly to: number;
}

const LINE_FEED = 10;

/**
 * Cuts the pieces of a text, in UTF-8, into windows that overlap by the lines of context.
 * @param maxLineBytes throws a `RangeError` beyond
 */
export async function* textWindows(
  pieces: AsyncIterable<Uint8Array>,
  { before, after, maxLineBytes }: { readonly before: number; readonly after: number; readonly maxLineBytes: number },
): AsyncGenerator<TextWindow> {
  let encoding: TextEncoding | undefined;
  let decode: ((piece: Buffer) => Buffer) | undefined;
  let kept: Buffer = Buffer.alloc(0);
  let linesBefore = 0;
  let from = 0;
  for await (const piece of pieces) {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    encoding ??= detectEncoding(wholeCharacters(bytes));
    decode ??= createPieceDecoder(encoding);
    const text = Buffer.concat([kept, decode(bytes)]);
    const end = text.lastIndexOf(LINE_FEED) + 1;
    if (text.byteLength - end > maxLineBytes) throw new RangeError(`It has a line of more than ${maxLineBytes} bytes.`);
    const lines = end === 0 ? 0 : countLines(text, end);
    const to = lines - after;
    if (to <= from) {
      kept = text;
      continue;
    }
    yield { bytes: text.subarray(0, end), encoding, linesBefore, from, to };
    const first = Math.max(0, to - before);
    kept = Buffer.from(text.subarray(startOfLine(text, end, lines - first)));
    linesBefore += first;
    from = to - first;
  }
  if (kept.byteLength > 0) yield { bytes: kept, encoding: encoding ?? "utf-8", linesBefore, from, to: Number.POSITIVE_INFINITY };
}

/** Returns the beginning of a text without a character of UTF-8 that is cut off at its end. */
function wholeCharacters(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.byteLength); back++) {
    const byte = bytes[bytes.byteLength - back] as number;
    if (byte < 0x80) break;
    if (byte >= 0xc0) return bytes.subarray(0, bytes.byteLength - back);
  }
  return bytes;
}

function countLines(text: Buffer, end: number): number {
  let lines = 0;
  for (let at = text.indexOf(LINE_FEED); at !== -1 && at < end; at = text.indexOf(LINE_FEED, at + 1)) lines++;
  return lines;
}

/** Returns the start of the line that is `back` lines before `end`. */
function startOfLine(text: Buffer, end: number, back: number): number {
  let start = end;
  for (let line = 0; line < back && start > 0; line++) start = start < 2 ? 0 : text.lastIndexOf(LINE_FEED, start - 2) + 1;
  return start;
}
