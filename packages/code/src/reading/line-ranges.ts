/** A region of a file that was asked for. */
export type LineRange =
  /** Lines `start` to `end`, counted from 1. Without `end` up to the end of the file. */
  | { readonly kind: "lines"; readonly start: number; readonly end?: number }
  /** The last lines of the file. */
  | { readonly kind: "last"; readonly count: number }
  /** Characters `from` to `to` of one line, counted from 1. Without `to` as many as fit. */
  | { readonly kind: "characters"; readonly line: number; readonly from: number; readonly to?: number };

export const RANGE_FORMS = '"20-60" (lines), "300-" (to the end), "-50" (the last 50 lines), "7:2001-6000" (characters of line 7)';

/** Reads one range as models write it: a text, a pair `[20, 60]` or an object `{ start, end }`. `undefined` if it is none of these. */
export function parseLineRange(value: unknown): LineRange | undefined {
  if (typeof value === "number") return parseLineRange(String(value));
  if (Array.isArray(value)) return value.length === 2 ? linesOf(value[0], value[1]) : undefined;
  if (typeof value === "object" && value !== null) {
    const { start, end } = value as { readonly start?: unknown; readonly end?: unknown };
    return linesOf(start, end);
  }
  if (typeof value !== "string") return undefined;
  const text = value.replace(/\s+|lines?/gi, "");
  const last = /^-(\d+)$/.exec(text);
  if (last !== null) return Number(last[1]) > 0 ? { kind: "last", count: Number(last[1]) } : undefined;
  const characters = /^L?(\d+):(\d+)-(\d*)$/i.exec(text);
  if (characters !== null) {
    const [line, from, to] = [Number(characters[1]), Number(characters[2]), characters[3]];
    if (line < 1 || from < 1 || (to !== "" && Number(to) < from)) return undefined;
    return { kind: "characters", line, from, ...(to !== "" && { to: Number(to) }) };
  }
  const lines = /^L?(\d+)(?:(-|\.\.|,|–)(?:L?(\d+))?)?$/i.exec(text);
  if (lines === null) return undefined;
  return linesOf(lines[1], lines[2] === undefined ? lines[1] : lines[3]);
}

function linesOf(start: unknown, end: unknown): LineRange | undefined {
  const first = Number(start);
  // Editors of models write -1 for the end of the file.
  const last = end === undefined || end === null || Number(end) === -1 ? undefined : Number(end);
  if (!Number.isInteger(first) || first < 1) return undefined;
  if (last !== undefined && (!Number.isInteger(last) || last < first)) return undefined;
  return { kind: "lines", start: first, ...(last !== undefined && { end: last }) };
}
