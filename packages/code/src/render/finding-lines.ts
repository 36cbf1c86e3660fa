import type { Finding } from "../commands/finding.ts";
import { displayWidth } from "../text/display-width.ts";
import type { Style } from "../text/style.ts";
import { softWrapped } from "../text/wrapped.ts";

export interface FindingLinesOptions {
  readonly style: Style;
  /** Default: each finding is one line, however long. */
  readonly columns?: number | undefined;
}

// Below this the details would be a column of single words.
const LEAST_DETAIL = 30;
const GAP = 2;

/** The findings with their marks: the details beside the names where there is room, else below them. */
export function findingLines(findings: readonly Finding[], { style, columns = Infinity }: FindingLinesOptions): string[] {
  const mark = { ok: style.green("✔"), missing: style.yellow("–"), broken: style.red("✗") };
  const widest = Math.max(0, ...findings.map(({ what }) => displayWidth(what)));
  const start = "✔ ".length + widest + GAP;
  const isBeside = columns - start >= LEAST_DETAIL;
  return findings.flatMap(({ what, state, detail }) => {
    const name = `${mark[state]} ${what}`;
    const indent = isBeside ? start : 4;
    const [first = "", ...rest] = softWrapped(" ".repeat(indent) + detail, columns).map((row) => row.slice(indent));
    const shown = (row: string): string => (state === "ok" ? style.dim(row) : row);
    const more = (isBeside ? rest : [first, ...rest]).map((row) => `${" ".repeat(indent)}${shown(row)}`);
    return isBeside ? [`${name}${" ".repeat(widest - displayWidth(what) + GAP)}${shown(first)}`, ...more] : [name, ...more];
  });
}
