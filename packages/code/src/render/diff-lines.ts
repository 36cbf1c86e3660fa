import { structuredPatch } from "diff";
import { truncated } from "./display-width.ts";
import { printable } from "./printable.ts";
import type { Style } from "./style.ts";

export interface DiffOptions {
  readonly style: Style;
  readonly columns: number;
  readonly context?: number;
  readonly maxLines?: number;
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

const HUNK = "@";

function paintedLines(lines: readonly string[], { style, columns, maxLines = 60 }: DiffOptions): string[] {
  const painted = lines.flatMap((line) => {
    const sign = line.charAt(0);
    if (sign === "\\") return [];
    if (sign === HUNK) return [style.dim("  ⋮")];
    const text = truncated(`${sign} ${printable(line.slice(1)).replace(/\t/g, "  ")}`, columns);
    return [sign === "+" ? style.green(text) : sign === "-" ? style.red(text) : style.dim(text)];
  });
  return painted.length <= maxLines + 1 ? painted : [...painted.slice(0, maxLines), style.dim(`… ${painted.length - maxLines} more lines`)];
}
