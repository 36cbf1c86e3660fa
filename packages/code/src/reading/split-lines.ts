/** `none`: one line without an end; `mixed`: LF beside CR LF; `cr`: only CR, as on an old Mac. */
export type LineEnds = "none" | "lf" | "crlf" | "cr" | "mixed";

export interface SplitText {
  /** Lines without their ends. A line end at the end of the text begins no further line. */
  readonly lines: readonly string[];
  readonly lineEnds: LineEnds;
}

/**
 * Splits a text into lines at LF and CR LF. CR alone ends lines only in a text without any LF: beside LF it is a character of its line, as for
 * compilers and `grep`, so that line numbers agree.
 */
export function splitText(text: string): SplitText {
  if (text === "") return { lines: [], lineEnds: "none" };
  if (!text.includes("\n")) {
    if (!text.includes("\r")) return { lines: [text], lineEnds: "none" };
    return { lines: withoutLastEmpty(text.split("\r")), lineEnds: "cr" };
  }
  const lines = text.split("\n");
  const ended = lines.length - 1;
  let withReturn = 0;
  for (let index = 0; index < ended; index++) {
    const line = lines[index] as string;
    if (!line.endsWith("\r")) continue;
    lines[index] = line.slice(0, -1);
    withReturn++;
  }
  return { lines: withoutLastEmpty(lines), lineEnds: withReturn === 0 ? "lf" : withReturn === ended ? "crlf" : "mixed" };
}

function withoutLastEmpty(lines: string[]): string[] {
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
