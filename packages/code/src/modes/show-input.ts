import { stripVTControlCharacters } from "node:util";
import type { LivePart } from "../terminal/live-part.ts";
import type { LiveScreen } from "../terminal/live-screen.ts";
import { displayWidth, fitting } from "../text/display-width.ts";

/** Shows the cursor's row of an input on a screen that has one row for it. */
export function showInput(screen: Pick<LiveScreen, "columns" | "input">, part: LivePart): void {
  const { lines, cursor = { row: 0, column: 0 } } = part.rows({ columns: screen.columns, rows: 1 });
  const row = stripVTControlCharacters(lines[cursor.row] ?? "");
  const text = row + " ".repeat(Math.max(0, cursor.column - displayWidth(row)));
  screen.input({ prompt: "", text, cursor: fitting(text, cursor.column).length });
}
