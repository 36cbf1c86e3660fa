import { foldText } from "./fold-text.ts";

/** A line as its indentation and what follows. */
export interface IndentedLine {
  readonly indent: string;
  /** The rest in the form in which it is compared; empty for a blank line. */
  readonly rest: string;
}

export function indentedLine(line: string): IndentedLine {
  const indent = /^[ \t]*/.exec(line)?.[0] ?? "";
  const { text } = foldText(line.slice(indent.length), "unicode-forms");
  return { indent, rest: text.trim() };
}
