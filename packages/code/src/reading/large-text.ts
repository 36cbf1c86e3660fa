import { decodeBytes } from "./decode-text.ts";

/** Reads the bytes of a file from `start` up to `end`. */
export type ReadPart = (start: number, end: number, signal: AbortSignal) => Promise<Uint8Array>;

/** A line of a file that is not held in memory. */
export interface LargeLine {
  readonly text: string;
  /** Bytes of the line that `text` lacks. */
  readonly omittedBytes: number;
}

/** A text file that is too large to be held in memory: lines are found by reading it in parts. */
export interface LargeText {
  readonly size: number;
  readonly encoding: string;
  /** Returns lines from `start` to `end`, or as many as `maxBytes` allow, and at least one. None if the file ends before `start`. */
  lines(
    range: { readonly start: number; readonly end: number; readonly maxBytes: number },
    signal: AbortSignal,
  ): Promise<readonly LargeLine[]>;
  /** Returns a part of one line in bytes. `undefined` if the file has no such line. */
  lineBytes(
    range: { readonly line: number; readonly from: number; readonly to: number },
    signal: AbortSignal,
  ): Promise<LargeLine | undefined>;
  /** Returns the number of lines; reads the whole file the first time. */
  count(signal: AbortSignal): Promise<number>;
}

export interface LargeTextOptions {
  readonly size: number;
  readonly encoding: string;
  readonly markBytes: number;
  readonly readPart: ReadPart;
}

const CHUNK_BYTES = 4 * 1024 * 1024;
/** The bytes of a line that are shown; the rest of it is passed over. */
const MAX_LINE_BYTES = 8 * 1024;

/** Opens a large text. It keeps the number of line ends in each chunk that it read, so that a later range is found faster. */
export function createLargeText({ size, encoding, markBytes, readPart }: LargeTextOptions): LargeText {
  const unit = encoding === "utf-16le" || encoding === "utf-16be" ? 2 : 1;
  const isEnd = lineEndOf(encoding);
  /** Line ends before each chunk; the first entry is 0. */
  const endsBefore: number[] = [0];
  const chunkStart = (index: number): number => markBytes + index * CHUNK_BYTES;
  const chunkAt = (index: number, signal: AbortSignal): Promise<Uint8Array> =>
    readPart(chunkStart(index), Math.min(size, chunkStart(index + 1)), signal);

  /** Counts the chunk behind the last one that was counted. @returns false if there is none */
  async function countNext(signal: AbortSignal): Promise<boolean> {
    const index = endsBefore.length - 1;
    if (chunkStart(index) >= size) return false;
    signal.throwIfAborted();
    const bytes = await chunkAt(index, signal);
    let ends = endsBefore[index] as number;
    for (let at = 0; at + unit <= bytes.length; at += unit) if (isEnd(bytes, at)) ends++;
    endsBefore[index + 1] = ends;
    return true;
  }

  /** The offset at which a line begins. `undefined` if the file ends before it. */
  async function offsetOf(line: number, signal: AbortSignal): Promise<number | undefined> {
    if (line === 1) return markBytes < size ? markBytes : undefined;
    const passed = line - 1;
    while ((endsBefore.at(-1) as number) < passed) if (!(await countNext(signal))) return undefined;
    const index = endsBefore.findIndex((ends) => ends >= passed) - 1;
    const bytes = await chunkAt(index, signal);
    let left = passed - (endsBefore[index] as number);
    for (let at = 0; at + unit <= bytes.length; at += unit)
      if (isEnd(bytes, at) && --left === 0) {
        const offset = chunkStart(index) + at + unit;
        return offset < size ? offset : undefined;
      }
    return undefined;
  }

  const textOf = (parts: readonly Uint8Array[]): string => {
    const { text } = decodeBytes(Buffer.concat(parts), encoding);
    return text.endsWith("\r") ? text.slice(0, -1) : text;
  };

  return {
    size,
    encoding,
    async lines({ start, end, maxBytes }, signal) {
      const offset = await offsetOf(start, signal);
      const lines: LargeLine[] = [];
      if (offset === undefined) return lines;
      let parts: Uint8Array[] = [];
      let kept = 0;
      let omitted = 0;
      let used = 0;
      const close = (): void => {
        lines.push({ text: textOf(parts), omittedBytes: omitted });
        used += kept;
        [parts, kept, omitted] = [[], 0, 0];
      };
      const add = (bytes: Uint8Array): void => {
        const room = bytes.subarray(0, Math.max(0, MAX_LINE_BYTES - kept));
        parts.push(room);
        kept += room.byteLength;
        omitted += bytes.byteLength - room.byteLength;
      };
      const isFull = (): boolean => start + lines.length > end || used >= maxBytes;
      for (let from = offset; from < size && !isFull();) {
        signal.throwIfAborted();
        const bytes = await readPart(from, Math.min(size, from + CHUNK_BYTES), signal);
        if (bytes.byteLength === 0) break; // the file became shorter
        let begin = 0;
        for (let at = 0; at + unit <= bytes.length && !isFull(); at += unit)
          if (isEnd(bytes, at)) {
            add(bytes.subarray(begin, at));
            close();
            begin = at + unit;
          }
        if (!isFull()) add(bytes.subarray(begin));
        from += bytes.byteLength;
        if (from >= size && !isFull() && kept + omitted > 0) close();
      }
      return lines;
    },

    async lineBytes({ line, from, to }, signal) {
      const offset = await offsetOf(line, signal);
      if (offset === undefined) return undefined;
      // The line may end before `from`, so its end is searched first.
      let length = 0;
      for (let at = offset; at < size;) {
        signal.throwIfAborted();
        const bytes = await readPart(at, Math.min(size, at + CHUNK_BYTES), signal);
        if (bytes.byteLength === 0) break;
        let index = 0;
        while (index + unit <= bytes.length && !isEnd(bytes, index)) index += unit;
        length += index;
        if (index + unit <= bytes.length) break;
        at += bytes.byteLength;
      }
      const [start, end] = [Math.min(length, from - 1), Math.min(length, to)].map((place) => place - (place % unit)) as [number, number];
      const bytes = await readPart(offset + start, offset + end, signal);
      return { text: withoutCutCharacters(decodeBytes(bytes, encoding).text), omittedBytes: length - end };
    },

    async count(signal) {
      while (await countNext(signal));
      const ends = endsBefore.at(-1) as number;
      if (size <= markBytes) return 0;
      const last = await readPart(size - unit, size, signal);
      return isEnd(last, 0) ? ends : ends + 1;
    },
  };
}

function lineEndOf(encoding: string): (bytes: Uint8Array, at: number) => boolean {
  if (encoding === "utf-16le") return (bytes, at) => bytes[at] === 0x0a && bytes[at + 1] === 0;
  if (encoding === "utf-16be") return (bytes, at) => bytes[at] === 0 && bytes[at + 1] === 0x0a;
  // The other encodings use this byte for nothing else.
  return (bytes, at) => bytes[at] === 0x0a;
}

/** Removes what a cut in the middle of a character leaves at both ends. */
function withoutCutCharacters(text: string): string {
  return text.replace(/^\uFFFD{1,3}/, "").replace(/\uFFFD{1,3}$/, "");
}
