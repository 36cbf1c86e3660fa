import { stripVTControlCharacters } from "node:util";
import { displayWidth, fitting } from "../text/display-width.ts";
import { paintedWidth } from "../text/wrapped.ts";

/** The treatment of rows by a terminal that becomes narrower: it cuts them, wraps them all, or wraps all but that of the cursor (xterm.js). */
export type Reflow = "none" | "all" | "but-cursor" | "unknown";

/** Rows as they were drawn, each narrower than the terminal was. */
export interface DrawnRows {
  readonly lines: readonly string[];
  readonly cursor: { readonly row: number; readonly column: number };
  /** Size of the terminal that they were drawn for. */
  readonly columns: number;
  readonly rows: number;
}

const REFLOWING_PROGRAMS = new Set(["iTerm.app", "Apple_Terminal", "WezTerm", "ghostty", "WarpTerminal", "rio", "contour", "tmux"]);
const REFLOWING_TERMS = /^(?:xterm-kitty|xterm-ghostty|foot|alacritty|contour|wezterm|tmux)/;
const REFLOWING_VARIABLES = ["VTE_VERSION", "KITTY_WINDOW_ID", "WT_SESSION", "KONSOLE_VERSION", "ALACRITTY_WINDOW_ID"];

/** Returns what the variables of the environment say about the terminal. */
export function reflowOf(environment: { readonly [name: string]: string | undefined }): Reflow {
  const term = environment["TERM"] ?? "";
  const program = environment["TERM_PROGRAM"] ?? "";
  const has = (name: string): boolean => (environment[name] ?? "") !== "";
  // A multiplexer draws by itself, whatever terminal it runs in.
  if (has("TMUX")) return "all";
  if (has("STY") || term.startsWith("screen")) return "none";
  if (program === "vscode") return "but-cursor";
  if (REFLOWING_PROGRAMS.has(program) || REFLOWING_TERMS.test(term) || REFLOWING_VARIABLES.some(has)) return "all";
  if (has("XTERM_VERSION") || term === "linux" || term.startsWith("rxvt")) return "none";
  return "unknown";
}

/**
 * Returns how many rows above the cursor the first of these rows is, after the terminal got another size. If that depends on something
 * unknown, the smaller number is returned: a row that remains is better than a finished line that is erased.
 */
export function rowsAboveCursor(
  drawn: DrawnRows,
  { columns, rows }: { readonly columns: number; readonly rows: number },
  reflow: Reflow,
): number {
  const { cursor } = drawn;
  if (columns >= drawn.columns || reflow === "none") return cursor.row;
  const added = drawn.lines.map((line) => addedRows(line, drawn.columns, columns));
  const above = cursor.row + sum(added.slice(0, cursor.row)) + Math.floor(cursor.column / columns);
  if (reflow === "all") return above;
  const inXterm = rowsAboveInXterm(added, cursor.row, Math.max(0, drawn.rows - rows));
  return reflow === "but-cursor" ? inXterm : Math.min(above, inXterm);
}

/**
 * Follows the reflow of xterm.js. It wraps rows from the last to the first, and moves its cursor down for each row that it adds, also for those below the
 * cursor. The row that it takes for that of the cursor is not wrapped.
 */
function rowsAboveInXterm(added: readonly number[], cursorRow: number, lostRows: number): number {
  let cursor = cursorRow;
  // A terminal that became lower has removed rows below the cursor. If they were empty ones, this misses some rows.
  const last = Math.max(cursorRow, added.length - 1 - lostRows);
  for (let row = last; row >= 0; row -= 1) if (row !== cursor) cursor += added[row] ?? 0;
  return cursor;
}

/** Returns how many rows a line takes more than one in a terminal with so many columns. */
function addedRows(painted: string, drawnColumns: number, columns: number): number {
  if (paintedWidth(painted) <= columns) return 0;
  let rest = fitting(stripVTControlCharacters(painted), drawnColumns);
  let added = 0;
  while (displayWidth(rest) > columns) {
    const row = fitting(rest, columns);
    // A terminal that is narrower than a letter has no useful rows.
    if (row === "") return added;
    rest = rest.slice(row.length);
    added += 1;
  }
  return added;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
