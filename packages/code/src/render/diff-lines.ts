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
export function diffLines(before: string, after: string, { style, columns, context = 1, maxLines = 60 }: DiffOptions): string[] {
  const { hunks } = structuredPatch("", "", before, after, "", "", { context });
  const all: string[] = [];
  for (const [index, hunk] of hunks.entries()) {
    if (index > 0) all.push(style.dim("  ⋮"));
    for (const line of hunk.lines) {
      const sign = line.charAt(0);
      if (sign === "\\") continue;
      const text = truncated(`${sign} ${printable(line.slice(1)).replace(/\t/g, "  ")}`, columns);
      all.push(sign === "+" ? style.green(text) : sign === "-" ? style.red(text) : style.dim(text));
    }
  }
  return all.length <= maxLines + 1 ? all : [...all.slice(0, maxLines), style.dim(`… ${all.length - maxLines} more lines`)];
}
