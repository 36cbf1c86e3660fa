import type { Style } from "../text/style.ts";
import { foldLines } from "./fold-lines.ts";
import type { FoldedOutputs } from "./folded-outputs.ts";

export interface SentLinesOptions {
  readonly style: Style;
  /** The most lines that are shown. Default: 12. */
  readonly maxLines?: number;
  /** Keeps a message that is folded. Default: it cannot be opened. */
  readonly folds?: FoldedOutputs | undefined;
}

/** The sign before what a person says. */
export const PROMPT = "› ";

const MAX_LINES = 12;
const TAIL = 3;

/** A message of the person, as a conversation shows it. Its lines are not cut; a long paste is folded. */
export function sentLines(text: string, { style, maxLines = MAX_LINES, folds }: SentLinesOptions): string[] {
  const keep = folds && ((lines: readonly string[]) => folds.keep("message", lines));
  const lines = foldLines(text, { maxLines, tail: TAIL, columns: Number.MAX_SAFE_INTEGER, keep });
  return lines.map((line, index) => style.bold(`${index === 0 ? PROMPT : " ".repeat(PROMPT.length)}${line}`));
}
