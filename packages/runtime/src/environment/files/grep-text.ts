import { isUtf8 } from "node:buffer";
import { type GrepMatch, type GrepOptions, VfsError } from "@keelson/protocol";

/** Looks for one pattern in one text after another. */
export type TextSearch = (file: string, bytes: Uint8Array) => readonly GrepMatch[];

// As grep and git do: a NUL this early means that nobody wants to see the lines.
const BINARY_PROBE_BYTES = 8192;

/** Compiles `pattern` (a JavaScript regular expression unless `fixedString`). An invalid one is a `VfsError` of kind `other`. */
export function compileTextSearch(pattern: string, options: GrepOptions): TextSearch {
  const expression = compileExpression(pattern, options);
  const before = options.context ?? options.beforeContext ?? 0;
  const after = options.context ?? options.afterContext ?? 0;
  const mode = options.outputMode ?? "content";

  return (file, bytes) => {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (buffer.subarray(0, BINARY_PROBE_BYTES).includes(0)) return [];
    // Latin-1 keeps one character per byte, so that columns stay byte offsets in files that are not UTF-8.
    const encoding = isUtf8(buffer) ? "utf8" : "latin1";
    const text = buffer.toString(encoding);
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
      column: Buffer.byteLength((lines[hit.first] as Line).text.slice(0, hit.column), encoding),
      lineContent:
        hit.first === hit.last
          ? (lines[hit.first] as Line).text
          : lines
              .slice(hit.first, hit.last + 1)
              .map((line) => line.text)
              .join("\n"),
      before: before === 0 ? [] : lines.slice(Math.max(0, hit.first - before), hit.first).map((line) => line.text),
      after: after === 0 ? [] : lines.slice(hit.last + 1, hit.last + 1 + after).map((line) => line.text),
    }));
  };
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

function compileExpression(pattern: string, { fixedString, caseInsensitive, multiline }: GrepOptions): RegExp {
  const source = fixedString ? pattern.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&") : pattern;
  const flags = `${caseInsensitive ? "i" : ""}${multiline ? "gms" : ""}`;
  try {
    return new RegExp(source, `${flags}u`);
  } catch {
    // The `u` flag refuses needless escapes such as `\-`, which are common in patterns written for grep.
  }
  try {
    return new RegExp(source, flags);
  } catch (error) {
    throw new VfsError(
      {
        kind: "other",
        message: `The search pattern is not a valid regular expression: ${(error as Error).message}. To search for the text as it stands, set fixedString.`,
      },
      { cause: error },
    );
  }
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
    if (lines.length === 0) break;
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
