import { printable } from "../text/printable.ts";
import type { Style } from "../text/style.ts";
import { foldNote } from "./fold-lines.ts";
import type { FoldedOutputs } from "./folded-outputs.ts";

export interface NoticeLinesOptions {
  readonly style: Style;
  /** Keeps what is folded. Default: nothing is folded. */
  readonly folds?: FoldedOutputs | undefined;
}

/** A problem that keeps nothing from working. One with several lines, such as the trace of a server that has failed, is folded to the first. */
export function noticeLines(text: string, { style, folds }: NoticeLinesOptions): string[] {
  const lines = printable(text).trimEnd().split("\n");
  const [first = "", ...rest] = lines;
  const shown = style.yellow(`! ${first}`);
  // A note instead of a single line would save nothing.
  if (rest.length <= 1 || folds === undefined) return [shown, ...rest.map((line) => style.yellow(`  ${line}`))];
  return [shown, style.dim(`  ${foldNote(rest.length, folds.keep("notice", lines))}`)];
}
