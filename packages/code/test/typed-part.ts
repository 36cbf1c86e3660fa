import type { LivePart } from "../src/terminal/live-part.ts";
import { truncated } from "../src/text/display-width.ts";

/** Returns a part like an input of one row. @param cursor columns from the start of `text`, whose characters are one column wide */
export function typedPart(text: string, cursor: number): LivePart {
  return {
    rows: ({ columns }) => ({ lines: [truncated(`› ${text}`, columns)], cursor: { row: 0, column: Math.min(2 + cursor, columns - 1) } }),
  };
}
