import type { Reading } from "../markdown/reading.ts";
import { printable, printableLine } from "../text/printable.ts";
import type { Style } from "../text/style.ts";
import { wrapped } from "../text/wrapped.ts";

export interface PlanLinesOptions {
  readonly style: Style;
  readonly columns: number;
  /** Renders the Markdown of the plan. Default: it is shown as it was written. */
  readonly reading?: Pick<Reading, "lines"> | undefined;
}

/** A plan for a person, whole and wrapped, because a plan that a narrow terminal cuts off would be accepted unread. */
export function planLines(plan: string, { style, columns, reading }: PlanLinesOptions): readonly string[] {
  const bar = style.dim("  │ ");
  const lines = reading === undefined ? writtenLines(plan, columns - 4) : reading.lines(plan.trim(), columns - 4);
  return lines.map((line) => `${bar}${line}`);
}

function writtenLines(plan: string, columns: number): readonly string[] {
  return printable(plan)
    .trim()
    .split("\n")
    .flatMap((line) => wrapped(printableLine(line), columns));
}
