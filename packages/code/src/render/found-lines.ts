import type { FoundItem } from "../settings/found-item.ts";
import { printableLine } from "../text/printable.ts";
import type { Style } from "../text/style.ts";

export interface FoundLinesOptions {
  readonly style: Style;
  /** The path of a file as a person reads it. */
  shownFile(file: string): string;
  /** True if the items have numbers, by which a person names them. */
  readonly isNumbered?: boolean;
}

/** A line for each thing that was found: whether it is used, where it is, and how or why not. */
export function foundLines(items: readonly FoundItem[], { style, shownFile, isNumbered = false }: FoundLinesOptions): readonly string[] {
  const width = String(items.length).length;
  return items.map(({ file, entry, isUsed, reason }, index) => {
    const number = isNumbered ? `${String(index + 1).padStart(width)}  ` : "";
    const said = printableLine(entry === undefined ? reason : `${entry}: ${reason}`);
    const mark = isUsed ? style.green("✔") : style.yellow("–");
    return `${number}${mark} ${printableLine(shownFile(file))}  ${style.dim(isUsed ? said : `not used: ${said}`)}`;
  });
}
