/** Collects the text that writes rows of the live region. Rows are counted from the first one of the region that is shown. */
export interface RowWriter {
  /** Erases a row and all below it. */
  eraseFrom(row: number): void;
  /** Writes a line in an empty row and begins the next row. The terminal may wrap the line. */
  finish(row: number, line: string): void;
  /** Writes a line of the live region in place of what the row shows. */
  replace(row: number, line: string): void;
  place(row: number, column: number): void;
  text(): string;
}

export interface RowWriterOptions {
  /** Place of the terminal's cursor. */
  readonly cursor: { readonly row: number; readonly column: number };
  /** Rows that the region has now. */
  readonly rows: number;
}

// Without automatic wrap a line that is wider than it was measured cannot take two rows.
const WRAP_OFF = "\u001b[?7l";
const WRAP_ON = "\u001b[?7h";
// tmux moves what an erasure from the first cell of the screen erases into its history, so this one begins at the second cell.
const ERASE_DOWN = "\u001b[K\u001b[C\u001b[J\r";
const ERASE_LINE = "\u001b[2K";
const NEXT_LINE = "\r\n";

export function createRowWriter({ cursor, rows }: RowWriterOptions): RowWriter {
  let written = "";
  let row = cursor.row;
  /** `undefined` after a line was written. */
  let column: number | undefined = cursor.column;
  /** The row before the first one that must be made by a line feed. */
  let last = Math.max(cursor.row, rows - 1);
  /** This row and all below it are empty. */
  let emptyFrom = rows;
  let wraps = true;

  function wrap(on: boolean): void {
    if (wraps !== on) written += on ? WRAP_ON : WRAP_OFF;
    wraps = on;
  }

  /** Moves to the first column of a row. */
  function goTo(target: number): void {
    const known = Math.min(target, last);
    if (known < row) written += `\u001b[${row - known}A`;
    else if (known > row + 1) written += `\u001b[${known - row}B`;
    else if (known === row + 1) {
      written += NEXT_LINE;
      column = 0;
    }
    if (column !== 0) written += "\r";
    for (; last < target; last += 1) written += NEXT_LINE;
    row = target;
    column = 0;
  }

  return {
    eraseFrom(target) {
      goTo(target);
      written += ERASE_DOWN;
      last = target;
      emptyFrom = target;
    },
    finish(target, line) {
      goTo(target);
      wrap(true);
      written += `${line}${NEXT_LINE}`;
      row = target + 1;
      last = Math.max(last, row);
    },
    replace(target, line) {
      goTo(target);
      wrap(false);
      written += target >= emptyFrom ? line : `${ERASE_LINE}${line}`;
      column = line === "" ? 0 : undefined;
    },
    place(target, to) {
      if (row === target && column === to) return;
      goTo(target);
      if (to > 0) written += `\u001b[${to}C`;
      column = to;
    },
    text() {
      wrap(true);
      return written;
    },
  };
}
