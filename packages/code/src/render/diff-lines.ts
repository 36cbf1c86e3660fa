import { structuredPatch } from "diff";
import { truncated } from "../text/display-width.ts";
import { printable } from "../text/printable.ts";
import type { Style } from "../text/style.ts";
import { wrapped } from "../text/wrapped.ts";

export interface DiffOptions {
  readonly style: Style;
  readonly columns: number;
  readonly context?: number;
  readonly maxLines?: number;
  /** Lines that are too wide go on in the next row, instead of being cut. */
  readonly whole?: boolean;
}

/** What changed between two texts, as coloured lines with `-` and `+`; hunks are told apart by a line of dots. */
export function diffLines(before: string, after: string, { context = 1, ...options }: DiffOptions): string[] {
  const { hunks } = structuredPatch("", "", before, after, "", "", { context });
  return paintedLines(
    hunks.flatMap(({ lines }, index) => (index > 0 ? [HUNK, ...lines] : lines)),
    options,
  );
}

/** The lines of a unified diff without file names, coloured. */
export function patchLines(patch: string, options: DiffOptions): string[] {
  const lines = patch.trimEnd().split("\n");
  return paintedLines(
    lines.flatMap((line, index) => (!line.startsWith("@@ ") ? [line] : index > 0 ? [HUNK] : [])),
    options,
  );
}

/** A patch as a model wrote it, coloured. */
export function patchTextLines(patch: string, options: DiffOptions): string[] {
  return paintedLines(
    patch
      .trim()
      .split(/\r?\n/)
      .map((line) => (/^[-+ ]/.test(line) ? line : ` ${line}`)),
    options,
  );
}

/** The line between hunks. */
export function hunkLine({ style }: DiffOptions): string {
  return style.dim("  ⋮");
}

const HUNK = "@";

function paintedLines(lines: readonly string[], { style, columns, maxLines = 60, whole = false }: DiffOptions): string[] {
  const painted = lines.flatMap((line) => {
    const sign = line.charAt(0);
    if (sign === "\\") return [];
    if (sign === HUNK) return [hunkLine({ style, columns })];
    const text = `${sign} ${printable(line.slice(1)).replace(/\t/g, "  ")}`;
    const [first = "", ...more] = whole ? wrapped(text, columns - 2) : [truncated(text, columns)];
    const paint = sign === "+" ? style.green : sign === "-" ? style.red : style.dim;
    return [first, ...more.map((row) => `  ${row}`)].map(paint);
  });
  return painted.length <= maxLines + 1 ? painted : [...painted.slice(0, maxLines), style.dim(`… ${painted.length - maxLines} more lines`)];
}
