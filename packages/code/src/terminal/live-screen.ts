import { stripVTControlCharacters } from "node:util";
import { displayWidth, fitting, truncated } from "../text/display-width.ts";
import { printableLine } from "../text/printable.ts";
import { LIVE_PLACES, type LivePart, type LivePlace } from "./live-part.ts";
import type { Screen } from "./screen.ts";
import type { Paint } from "../text/style.ts";
import { softWrapped, wrapped } from "../text/wrapped.ts";

/** The part of a terminal that a live screen needs. */
export interface Terminal {
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
  on?(event: "resize", listener: () => void): unknown;
  off?(event: "resize", listener: () => void): unknown;
}

/** What the person is typing: drawn below everything, with the cursor in it. */
export interface InputLine {
  /** Stands before the prompt where there is room for it. */
  readonly lead?: string;
  readonly prompt: string;
  readonly text: string;
  /** Place of the cursor in `text`, in UTF-16 units. */
  readonly cursor: number;
}

export interface LiveScreen extends Screen {
  /** Puts a part into a place of the live region, or takes it away. */
  part(place: LivePlace, part: LivePart | undefined): void;
  /** Asks for a frame: a part has changed. */
  changed(): void;
  /** Removes the live region until `resume`, because another program gets the terminal. */
  suspend(): void;
  /** Draws the live region again, whatever was written in between. */
  resume(): void;
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
  // Widths of the live rows that stand above the cursor's.
  let above: readonly number[] = [];
  let blank = true;
  const parts: { [place in LivePlace]?: LivePart | undefined } = {};
  let isSuspended = false;

  const columns = (): number => Math.max(20, (terminal.columns ?? 80) - 1);

  function draw(finished: readonly string[]): void {
    const live: string[] = [];
    const cursors: { readonly row: number; readonly column: number }[] = [];
    const show = (lines: readonly string[], at?: { readonly row: number; readonly column: number }): void => {
      if (at !== undefined) cursors.push({ row: live.length + at.row, column: at.column });
      live.push(...lines);
    };
    const own: { [place in LivePlace]?: () => void } = {
      words: () => show(open === "" ? [] : [paint(open)]),
      activity: () => show(status === undefined ? [] : [truncated(status, columns())]),
      input() {
        const view = input && inputView(input, columns());
        if (view) show([view.line], { row: 0, column: view.column });
      },
    };
    for (const place of isSuspended ? [] : LIVE_PLACES) {
      own[place]?.();
      const rows = parts[place]?.rows({ columns: columns(), rows: Math.max(1, (terminal.rows ?? 24) - live.length - 3) });
      if (rows) show(rows.lines, rows.cursor);
    }
    const cursor = cursors.at(-1);
    const rows = rowsAbove();
    const up = rows > 0 ? `\u001b[${rows}A` : "";
    const down = live.length > 0 ? `${live.join("\n")}\r` : "";
    const below = cursor === undefined ? 0 : live.length - 1 - cursor.row;
    const back = below > 0 ? `\u001b[${below}A` : "";
    const column = cursor !== undefined && cursor.column > 0 ? `\u001b[${cursor.column}C` : "";
    // Without automatic wrap a line that is wider than it was measured cannot take two rows.
    terminal.write(
      `${HIDE_CURSOR}\r${up}${ERASE_DOWN}${finished.map((line) => `${line}\n`).join("")}${SAVE_WRAP}${down}${RESTORE_WRAP}${back}${column}${cursor || live.length === 0 ? SHOW_CURSOR : ""}`,
    );
    above = live.slice(0, cursor?.row ?? -1).map((line) => displayWidth(stripVTControlCharacters(line)));
    if (finished.length > 0) blank = finished.at(-1) === "";
  }

  /** A terminal that became narrower has wrapped what was wider, but for the cursor's own row. */
  function rowsAbove(): number {
    const width = terminal.columns ?? 80;
    return above.reduce((rows, taken) => rows + Math.max(1, Math.ceil(taken / width)), 0);
  }

  function redraw(): void {
    const rows = wrapped(open, columns());
    open = rows.pop() ?? "";
    draw(rows.map((row) => paint(row)));
  }
  terminal.on?.("resize", redraw);

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
      const added = lines[0] === "" && blank && finished.length === 0 ? lines.slice(1) : lines;
      draw([...finished, ...added.flatMap((line) => softWrapped(line, columns()))]);
    },
    status(line) {
      if (line === status) return;
      status = line;
      draw([]);
    },
    part(place, part) {
      parts[place] = part;
      draw([]);
    },
    changed: () => draw([]),
    suspend() {
      isSuspended = true;
      draw([]);
    },
    resume() {
      isSuspended = false;
      above = [];
      draw([]);
    },
    input(line) {
      input = line;
      draw([]);
    },
    close() {
      terminal.off?.("resize", redraw);
      status = undefined;
      input = undefined;
      for (const place of LIVE_PLACES) parts[place] = undefined;
      draw(takeOpen());
      terminal.write(SHOW_CURSOR);
    },
  };
}

function plain(text: string): string {
  return text;
}

/** The part of a long input around the cursor. */
function inputView({ lead = "", prompt, text, cursor }: InputLine, columns: number): { readonly line: string; readonly column: number } {
  const whole = displayWidth(lead + prompt) + LEAST_INPUT <= columns ? lead + prompt : prompt;
  const shownPrompt = truncated(whole, columns - LEAST_INPUT);
  const before = displayWidth(shownPrompt);
  const room = columns - before - 1;
  // Nothing further away than this can be seen, and a paste may be a whole file.
  const typed = lastFitting(printableLine(text.slice(Math.max(0, cursor - 4 * room), cursor)), room);
  const after = printableLine(text.slice(cursor, cursor + 4 * room));
  return { line: `${shownPrompt}${truncated(typed + after, room + 1)}`, column: before + displayWidth(typed) };
}

const LEAST_INPUT = 8;

/** The longest end of `text` that fits into `columns`. */
function lastFitting(text: string, columns: number): string {
  let rest = text;
  while (displayWidth(rest) > columns) rest = rest.slice(Math.max(1, fitting(rest, 1).length));
  return rest;
}
