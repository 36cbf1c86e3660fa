import { printable, printableLine } from "../text/printable.ts";
import type { Style } from "../text/style.ts";
import { wrapped } from "../text/wrapped.ts";

/** A plan for a person, whole and wrapped, because a plan that a narrow terminal cuts off would be accepted unread. */
export function planLines(plan: string, { style, columns }: { readonly style: Style; readonly columns: number }): readonly string[] {
  return printable(plan)
    .trim()
    .split("\n")
    .flatMap((line) => wrapped(printableLine(line), columns - 4).map((row) => `${style.dim("  │ ")}${row}`));
}
