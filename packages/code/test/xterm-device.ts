import xterm from "@xterm/headless";
import type { Terminal } from "../src/terminal/live-screen.ts";

/** A terminal of xterm.js to which a screen writes directly. */
export interface XtermDevice extends Terminal {
  readonly columns: number;
  readonly rows: number;
  /** All that was written since the last call. */
  takeWritten(): string;
  /** Changes the size after all that was written is shown, then reports it as a terminal does. Reports of quick changes may be missing. */
  resize(columns: number, rows?: number, options?: { readonly isReported?: boolean }): Promise<void>;
  /** Resolves when all that was written is shown. */
  settled(): Promise<void>;
  /** Returns the rows of the screen without the empty ones at its end, after all that was written is shown. */
  shown(): Promise<readonly string[]>;
  /** Returns all lines since the start: rows that the terminal has wrapped are joined. */
  transcript(): Promise<readonly string[]>;
  /** Returns all rows since the start, as far as what was written is shown. */
  allRows(): readonly string[];
  /** Returns the rows that have left the screen. */
  scrolledAway(): readonly string[];
  /** Returns the letters of all rows, each with a description of its style. */
  styledRows(): readonly (readonly string[])[];
  /** Row on the screen and column of the cursor. */
  cursor(): readonly [row: number, column: number];
  /** Row of the cursor from the first line of the scrollback on. */
  cursorLine(): number;
  /** Resolves with the next title that is set. */
  nextTitle(): Promise<string>;
  dispose(): void;
}

export interface XtermDeviceOptions {
  readonly columns?: number;
  readonly rows?: number;
  /** True for terminals that wrap the row of the cursor, too. */
  readonly reflowCursorLine?: boolean;
}

/** Variables by which a terminal of xterm.js is known. */
export const XTERM_ENVIRONMENT = { TERM_PROGRAM: "vscode", TERM: "xterm-256color" } as const;

export function createXtermDevice({ columns = 80, rows = 24, reflowCursorLine = false }: XtermDeviceOptions = {}): XtermDevice {
  const terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true, reflowCursorLine });
  const listeners = new Set<() => void>();
  let written = "";
  const settled = (): Promise<void> => new Promise<void>((resolve) => terminal.write("", resolve));
  const buffer = () => terminal.buffer.active;

  function rowsFrom(first: number): string[] {
    const lines: string[] = [];
    for (let row = first; row < buffer().length; row += 1) lines.push(buffer().getLine(row)?.translateToString(true) ?? "");
    while (lines.at(-1) === "") lines.pop();
    return lines;
  }

  return {
    get columns() {
      return terminal.cols;
    },
    get rows() {
      return terminal.rows;
    },
    write(text) {
      written += text;
      terminal.write(text);
    },
    on: (_event, listener) => void listeners.add(listener),
    off: (_event, listener) => void listeners.delete(listener),
    takeWritten() {
      const taken = written;
      written = "";
      return taken;
    },
    async resize(width, height = terminal.rows, { isReported = true } = {}) {
      await settled();
      terminal.resize(width, height);
      if (isReported) for (const listener of listeners) listener();
    },
    settled,
    async shown() {
      await settled();
      return rowsFrom(buffer().baseY);
    },
    async transcript() {
      await settled();
      const lines: string[] = [];
      for (let row = 0; row < buffer().length; row += 1) {
        const line = buffer().getLine(row);
        // The end of a row that continues is no end of a line: its spaces count.
        const continues = buffer().getLine(row + 1)?.isWrapped === true;
        // A wide character that did not fit leaves the last cell of its row empty.
        const isLastEmpty = continues && line?.getCell(terminal.cols - 1)?.getCode() === 0;
        const text = line?.translateToString(!continues, 0, isLastEmpty ? terminal.cols - 1 : terminal.cols) ?? "";
        if (line?.isWrapped === true) lines.push(`${lines.pop() ?? ""}${text}`);
        else lines.push(text);
      }
      while (lines.at(-1) === "") lines.pop();
      return lines;
    },
    allRows: () => rowsFrom(0),
    styledRows: () =>
      rowsFrom(0).map((row, index) =>
        Array.from(row, (letter, column) => {
          const cell = buffer().getLine(index)?.getCell(column);
          return `${letter} ${cell?.getFgColor()} ${cell?.getBgColor()} ${cell?.isBold()} ${cell?.isDim()} ${cell?.isItalic()}`;
        }),
      ),
    scrolledAway: () => rowsFrom(0).slice(0, buffer().baseY),
    cursor: () => [buffer().cursorY, buffer().cursorX],
    cursorLine: () => buffer().baseY + buffer().cursorY,
    nextTitle: () =>
      new Promise((resolve) => {
        const listening = terminal.onTitleChange((title) => {
          listening.dispose();
          resolve(title);
        });
      }),
    dispose: () => terminal.dispose(),
  };
}
