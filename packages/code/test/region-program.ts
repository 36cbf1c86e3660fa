import { createLiveScreen } from "../src/terminal/live-screen.ts";
import type { LivePart } from "../src/terminal/live-part.ts";

/** A program whose live region has rows as wide as the terminal above, at and below the cursor. It finishes a line for each key. */
const screen = createLiveScreen(process.stdout, { environment: process.env, process });
const wide = (letter: string): LivePart => ({ rows: ({ columns }) => ({ lines: [letter.repeat(columns), letter.repeat(5)] }) });
let count = 0;

process.stdin.setRawMode(true);
process.stdin.on("data", () => {
  count += 1;
  screen.block([`line ${count}. ${"word ".repeat(count * 3)}end`]);
});
screen.part("activity", wide("~"));
screen.part("input", {
  rows: ({ columns }) => ({ lines: ["=".repeat(columns)], cursor: { row: 0, column: columns - 2 } }),
});
screen.part("status", wide("^"));
