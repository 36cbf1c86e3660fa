import { isUtf8 } from "node:buffer";
import { type GrepMatch, type GrepOptions, VfsError } from "@keelson/protocol";
import { compileSearchPattern } from "../files/search-pattern.ts";
import { SearchTooLong } from "../files/text-automaton.ts";
import type { TextMatcher } from "../files/text-matcher.ts";
import { createTextFilter } from "./create-text-filter.ts";
import type { TextFilter } from "./text-filter.ts";
import type { TextWindow } from "./text-windows.ts";

/** A search for one pattern in one text after another. */
export interface TextSearch {
  /** Finds the texts that cannot match. `undefined` if there is no way to, or the search needs lines without a match. */
  readonly filter: TextFilter | undefined;
  /** The pattern in the syntax of ripgrep. */
  readonly ripgrep: string;
  search(file: string, window: TextWindow): readonly GrepMatch[];
}

/** The limit that a search exceeds whose pattern reads a text too often. */
export const TIME_OF_SEARCH = "time of a search";
// In one file, by a search that spans lines; less than a second.
const MAX_CHARACTERS_READ = 20_000_000;

/** Compiles what is done to each text. The pattern is one that `compileSearchPattern` knows. */
export function compileTextSearch(pattern: string, options: GrepOptions): TextSearch {
  const { matcher, required, node, ripgrep } = compileSearchPattern(pattern, options);
  const { before, after } = contextOf(options);
  const mode = options.outputMode ?? "content";
  const tellsColumns = mode === "content" && !options.invert;

  function search(file: string, { bytes, linesBefore, from, to }: TextWindow): readonly GrepMatch[] {
    const text = isUtf8(bytes) ? bytes.toString("utf8") : decodeWithStrays(bytes);
    const lines = splitLines(text);
    const hits = withinLimits(file, matcher, () =>
      options.multiline ? searchWhole(text, lines, matcher) : searchLines(text, lines, matcher, { required, tellsColumns }),
    );
    const selected = (options.invert ? invertHits(hits, lines) : hits).filter(({ first }) => first >= from && first < to);
    if (selected.length === 0) return [];
    if (mode === "files-with-matches") return [{ file, lineNumber: 0, column: 0, lineContent: "", before: [], after: [] }];
    if (mode === "count") return [countOf(file, selected.length)];
    return selected.map((hit): GrepMatch => ({
      file,
      lineNumber: options.lineNumbers ? linesBefore + hit.first + 1 : 0,
      column: bytesOf(text.slice((lines[hit.first] as Line).start, (lines[hit.first] as Line).start + hit.column)),
      lineContent: shown(text, lines.slice(hit.first, hit.last + 1)).join("\n"),
      before: before === 0 ? [] : shown(text, lines.slice(Math.max(0, hit.first - before), hit.first)),
      after: after === 0 ? [] : shown(text, lines.slice(hit.last + 1, hit.last + 1 + after)),
    }));
  }
  return { filter: options.invert ? undefined : createTextFilter(node, options.caseInsensitive === true), ripgrep, search };
}

/** The number of lines of context. */
export function contextOf(options: GrepOptions): { readonly before: number; readonly after: number } {
  return { before: options.context ?? options.beforeContext ?? 0, after: options.context ?? options.afterContext ?? 0 };
}

export function countOf(file: string, count: number): GrepMatch {
  return { file, lineNumber: count, column: 0, lineContent: String(count), before: [], after: [] };
}

/** @throws VfsError of kind `resource-limit` that names the file */
function withinLimits(file: string, matcher: TextMatcher, search: () => Hit[]): Hit[] {
  try {
    matcher.restart();
    return search();
  } catch (error) {
    if (!(error instanceof SearchTooLong)) throw error;
    const message = `The search of ${file} was given up, as it would take too long. Repeat less in the pattern (as with {n,m}, or .* in a search that spans lines), or leave the file out.`;
    throw new VfsError({ kind: "resource-limit", path: file, limit: TIME_OF_SEARCH, message }, { cause: error });
  }
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
function shown(text: string, lines: readonly Line[]): string[] {
  return lines.map(({ start, end }) => text.slice(start, end).replace(STRAYS, (stray) => String.fromCharCode(stray.charCodeAt(0) - STRAY)));
}

/** Where it is in the whole text, without its end. */
interface Line {
  readonly start: number;
  readonly end: number;
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
    lines.push({ start, end: stop > start && text[stop - 1] === "\r" ? stop - 1 : stop });
    start = stop + 1;
  }
  return lines;
}

function searchLines(
  text: string,
  lines: readonly Line[],
  matcher: TextMatcher,
  { required, tellsColumns }: { readonly required: string; readonly tellsColumns: boolean },
): Hit[] {
  const hits: Hit[] = [];
  // Where it stands next; most lines are before it, and need no closer look.
  let next = -1;
  for (const [index, { start, end }] of lines.entries()) {
    if (next < start) next = text.indexOf(required, start);
    if (next === -1) break;
    if (next > end || !matcher.matches(text, start, end)) continue;
    const found = tellsColumns ? matcher.startIn(text, start, end) : undefined;
    hits.push({ first: index, last: index, column: (found ?? start) - start });
  }
  return hits;
}

/** Matches that share a line are one hit, as line mode has one hit per line. */
function searchWhole(text: string, lines: readonly Line[], matcher: TextMatcher): Hit[] {
  const hits: Hit[] = [];
  let at = 0;
  const lineAt = (offset: number): number => {
    while (at + 1 < lines.length && (lines[at + 1] as Line).start <= offset) at++;
    return at;
  };
  let left = MAX_CHARACTERS_READ + text.length;
  for (let from = 0; from <= text.length;) {
    const match = matcher.find(text, 0, text.length, from);
    // A pattern may read to the end of the text for each of its matches, however short they are.
    left -= match?.charactersRead ?? 0;
    if (left < 0) throw new SearchTooLong();
    // What follows the last line end is no line.
    if (match === undefined || (match.start === text.length && (text === "" || text.endsWith("\n")))) break;
    const isEmpty = match.end === match.start;
    from = isEmpty ? match.end + ((text.codePointAt(match.end) ?? 0) > 0xffff ? 2 : 1) : match.end;
    const first = lineAt(match.start);
    const last = isEmpty ? first : lineAt(match.end - 1);
    const previous = hits.at(-1);
    if (previous === undefined || previous.last < first) hits.push({ first, last, column: match.start - (lines[first] as Line).start });
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
