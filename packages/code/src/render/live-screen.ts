import { displayWidth, fitting, truncated } from "./display-width.ts";
import type { Screen } from "./screen.ts";
import type { Paint } from "./style.ts";

/** The part of a terminal that a live screen needs. */
export interface Terminal {
  readonly columns?: number;
  write(text: string): unknown;
}

/** What the person is typing: drawn below everything, with the cursor in it. */
export interface InputLine {
  readonly prompt: string;
  readonly text: string;
  /** Place of the cursor in `text`, in UTF-16 units. */
  readonly cursor: number;
}

export interface LiveScreen extends Screen {
  input(line: InputLine | undefined): void;
  /** Takes the live lines away and leaves what is finished. */
  close(): void;
}

const ERASE_DOWN = "\u001b[J";
const HIDE_CURSOR = "\u001b[?25l";
const SHOW_CURSOR = "\u001b[?25h";
const SAVE_WRAP = "\u001b[?7l";
const RESTORE_WRAP = "\u001b[?7h";

/**
 * A terminal whose last lines are alive: the line of text that is still growing, the status, the input. What scrolls past
 * them is final. Each change is one write, so that nothing flickers.
 */
export function createLiveScreen(terminal: Terminal): LiveScreen {
  let open = "";
  let paint: Paint = (text) => text;
  let status: string | undefined;
  let input: InputLine | undefined;
  // Rows between the cursor and the first live row.
  let above = 0;
  let blank = true;

  const columns = (): number => Math.max(20, (terminal.columns ?? 80) - 1);

  function draw(finished: readonly string[]): void {
    const live: string[] = [];
    if (open !== "") live.push(paint(open));
    if (status !== undefined) live.push(status);
    const view = input && inputView(input, columns());
    if (view) live.push(view.line);
    const up = above > 0 ? `\u001b[${above}A` : "";
    const down = live.length > 0 ? `${live.join("\n")}\r` : "";
    const column = view && view.column > 0 ? `\u001b[${view.column}C` : "";
    // Without automatic wrap a line that is wider than it was measured cannot take two rows.
    terminal.write(
      `${HIDE_CURSOR}\r${up}${ERASE_DOWN}${finished.map((line) => `${line}\n`).join("")}${SAVE_WRAP}${down}${RESTORE_WRAP}${column}${view || live.length === 0 ? SHOW_CURSOR : ""}`,
    );
    above = Math.max(0, live.length - 1);
    if (finished.length > 0) blank = finished.at(-1) === "";
  }

  function takeOpen(): string[] {
    const line = open;
    open = "";
    return line === "" ? [] : [paint(line)];
  }

  return {
    get columns() {
      return columns();
    },
    text(chunk, chunkPaint = plain) {
      const finished = chunkPaint === paint ? [] : takeOpen();
      paint = chunkPaint;
      const lines = `${open}${chunk}`.split("\n");
      open = lines.pop() ?? "";
      for (const line of lines) for (const row of wrapped(line, columns())) finished.push(paint(row));
      const rows = wrapped(open, columns());
      open = rows.pop() ?? "";
      for (const row of rows) finished.push(paint(row));
      draw(finished);
    },
    endText() {
      if (open !== "") draw(takeOpen());
    },
    block(lines) {
      const finished = takeOpen();
      if (finished.length > 0) blank = false;
      // Never two empty lines in a row.
      draw([...finished, ...(lines[0] === "" && blank && finished.length === 0 ? lines.slice(1) : lines)]);
    },
    status(line) {
      if (line === status) return;
      status = line;
      draw([]);
    },
    input(line) {
      input = line;
      draw([]);
    },
    close() {
      status = undefined;
      input = undefined;
      draw(takeOpen());
      terminal.write(SHOW_CURSOR);
    },
  };
}

function plain(text: string): string {
  return text;
}

/** Rows of at most `columns`, broken at spaces where there are any. */
export function wrapped(line: string, columns: number): string[] {
  const rows: string[] = [];
  let rest = line;
  while (rest.length * 2 > columns && displayWidth(rest) > columns) {
    const full = fitting(rest, columns);
    // A row takes at least one character, however narrow the terminal is.
    const hard = full === "" ? rest.slice(0, 1) : full;
    const space = rest.charAt(hard.length) === " " ? hard.length : hard.lastIndexOf(" ");
    const row = space > columns / 3 ? rest.slice(0, space) : hard;
    rows.push(row);
    rest = rest.slice(row.length);
    if (rest.startsWith(" ")) rest = rest.slice(1);
  }
  rows.push(rest);
  return rows;
}

/** The part of a long input around the cursor. */
function inputView({ prompt, text, cursor }: InputLine, columns: number): { readonly line: string; readonly column: number } {
  const lead = displayWidth(prompt);
  const room = Math.max(4, columns - lead - 1);
  let start = 0;
  while (displayWidth(text.slice(start, cursor)) > room) start += 1;
  const shown = truncated(text.slice(start), room + 1);
  return { line: `${prompt}${shown}`, column: lead + displayWidth(text.slice(start, cursor)) };
}
