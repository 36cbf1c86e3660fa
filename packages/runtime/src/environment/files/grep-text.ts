import { isUtf8 } from "node:buffer";
import type { GrepMatch, GrepOptions } from "@keelson/protocol";
import { compileSearchPattern } from "./search-pattern.ts";

/** Looks for one pattern in one text after another. */
export type TextSearch = (file: string, bytes: Uint8Array) => readonly GrepMatch[];

// As grep and git do: a NUL this early means that nobody wants to see the lines.
const BINARY_PROBE_BYTES = 8192;

/** Compiles what is done to each file. The pattern is one that `compileSearchPattern` knows. */
export function compileTextSearch(pattern: string, options: GrepOptions): TextSearch {
  const { expression } = compileSearchPattern(pattern, options);
  const before = options.context ?? options.beforeContext ?? 0;
  const after = options.context ?? options.afterContext ?? 0;
  const mode = options.outputMode ?? "content";

  return (file, bytes) => {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (buffer.subarray(0, BINARY_PROBE_BYTES).includes(0)) return [];
    const text = isUtf8(buffer) ? buffer.toString("utf8") : decodeWithStrays(buffer);
    const lines = splitLines(text);
    const hits = options.multiline ? searchWhole(text, lines, expression) : searchLines(lines, expression);
    const selected = options.invert ? invertHits(hits, lines) : hits;
    if (selected.length === 0) return [];
    if (mode === "files-with-matches") return [{ file, lineNumber: 0, column: 0, lineContent: "", before: [], after: [] }];
    if (mode === "count")
      return [{ file, lineNumber: selected.length, column: 0, lineContent: String(selected.length), before: [], after: [] }];
    return selected.map((hit): GrepMatch => ({
      file,
      lineNumber: options.lineNumbers ? hit.first + 1 : 0,
      column: bytesOf((lines[hit.first] as Line).text.slice(0, hit.column)),
      lineContent: shown(lines, hit.first, hit.last + 1).join("\n"),
      before: before === 0 ? [] : shown(lines, Math.max(0, hit.first - before), hit.first),
      after: after === 0 ? [] : shown(lines, hit.last + 1, hit.last + 1 + after),
    }));
  };
}

// A byte that belongs to no character of UTF-8 is kept as a lone surrogate, which valid text never holds.
const STRAY = 0xdc00;
const STRAYS = /\p{Cs}/gu;

function decodeWithStrays(bytes: Buffer): string {
  const parts: string[] = [];
  for (let start = 0; start < bytes.byteLength;) {
    const end = bytes.indexOf(10, start) + 1 || bytes.byteLength;
    const line = bytes.subarray(start, end);
    if (isUtf8(line)) parts.push(line.toString("utf8"));
    else
      for (let at = 0; at < line.byteLength;) {
        const character = characterAt(line, at);
        parts.push(character?.toString("utf8") ?? String.fromCharCode(STRAY + (line[at] as number)));
        at += character?.byteLength ?? 1;
      }
    start = end;
  }
  return parts.join("");
}

function characterAt(bytes: Buffer, at: number): Buffer | undefined {
  const lead = bytes[at] as number;
  const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  const character = bytes.subarray(at, at + length);
  return character.byteLength === length && isUtf8(character) ? character : undefined;
}

function bytesOf(text: string): number {
  // A lone surrogate would be written as three bytes, and stands for one.
  return Buffer.byteLength(text) - 2 * (text.match(STRAYS)?.length ?? 0);
}

/** As people read it: a stray byte as the character of Latin-1. */
function shown(lines: readonly Line[], from: number, to: number): string[] {
  return lines.slice(from, to).map(({ text }) => text.replace(STRAYS, (stray) => String.fromCharCode(stray.charCodeAt(0) - STRAY)));
}

interface Line {
  readonly text: string;
  /** Where it starts in the whole text. */
  readonly start: number;
}
/** Lines `first` to `last`; `column` counts characters in the first. */
interface Hit {
  readonly first: number;
  readonly last: number;
  readonly column: number;
}

function splitLines(text: string): Line[] {
  const lines: Line[] = [];
  for (let start = 0; start < text.length;) {
    const end = text.indexOf("\n", start);
    const stop = end === -1 ? text.length : end;
    lines.push({ text: text.slice(start, stop > start && text[stop - 1] === "\r" ? stop - 1 : stop), start });
    start = stop + 1;
  }
  return lines;
}

function searchLines(lines: readonly Line[], expression: RegExp): Hit[] {
  const hits: Hit[] = [];
  for (const [index, line] of lines.entries()) {
    const column = line.text.search(expression);
    if (column !== -1) hits.push({ first: index, last: index, column });
  }
  return hits;
}

/** Matches that share a line are one hit, as line mode has one hit per line. */
function searchWhole(text: string, lines: readonly Line[], expression: RegExp): Hit[] {
  const hits: Hit[] = [];
  let at = 0;
  for (const match of text.matchAll(expression)) {
    const lineAt = (offset: number): number => {
      while (at + 1 < lines.length && (lines[at + 1] as Line).start <= offset) at++;
      return at;
    };
    // What follows the last line end is no line.
    if (match.index === text.length && (text === "" || text.endsWith("\n"))) break;
    const first = lineAt(match.index);
    const last = match[0] === "" ? first : lineAt(match.index + match[0].length - 1);
    const previous = hits.at(-1);
    if (previous === undefined || previous.last < first) hits.push({ first, last, column: match.index - (lines[first] as Line).start });
    else if (previous.last < last) hits[hits.length - 1] = { ...previous, last };
  }
  return hits;
}

function invertHits(hits: readonly Hit[], lines: readonly Line[]): Hit[] {
  const touched = new Set<number>();
  for (const hit of hits) for (let line = hit.first; line <= hit.last; line++) touched.add(line);
  const inverted: Hit[] = [];
  for (let line = 0; line < lines.length; line++) if (!touched.has(line)) inverted.push({ first: line, last: line, column: 0 });
  return inverted;
}
