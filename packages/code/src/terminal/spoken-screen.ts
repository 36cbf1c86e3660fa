import { stripVTControlCharacters } from "node:util";
import { withoutTabs } from "../text/display-width.ts";
import { type After, afterTimer } from "./frame-pace.ts";
import type { LivePart } from "./live-part.ts";
import { MIN_COLUMNS } from "./live-region.ts";
import type { LiveScreen, Terminal } from "./live-screen.ts";
import { spokenActivity } from "./spoken-activity.ts";

export interface SpokenScreenOptions {
  /** False for a terminal that knows no escape sequences (`TERM=dumb`). Default: true. */
  readonly sequences?: boolean;
  /** Default: the timers of this process. */
  readonly after?: After;
}

/** An activity that is over within this time is not written. */
const SETTLED_MS = 500;
const DEFAULT_SIZE = { columns: 80, rows: 24 };

/**
 * A screen for screen readers and for terminals without a cursor. It only appends lines, and repeats none. Text is written line by line. Of the
 * live region it writes the activity, one line for each change; the question and the input belong to the line editor of the terminal.
 */
export function createSpokenScreen(terminal: Terminal, { sequences = true, after = afterTimer }: SpokenScreenOptions = {}): LiveScreen {
  let open = "";
  let isAfterEmptyLine = true;
  let status: string | undefined;
  let activityPart: LivePart | undefined;
  let activity = "";
  let spoken = "";
  let cancel = (): void => {};
  const columns = (): number => Math.max(MIN_COLUMNS, (terminal.columns ?? DEFAULT_SIZE.columns) - 1);
  const rows = (): number => Math.max(1, (terminal.rows ?? DEFAULT_SIZE.rows) - 1);

  function write(lines: readonly string[]): void {
    if (lines.length === 0) return;
    const text = lines.map((line) => withoutTabs(sequences ? line : stripVTControlCharacters(line)));
    terminal.write(`${text.join("\n")}\n`);
    isAfterEmptyLine = lines.at(-1) === "";
  }

  function endText(): void {
    if (open === "") return;
    const line = open;
    open = "";
    write([line]);
  }

  function speak(): void {
    cancel();
    if (activity === spoken) return;
    spoken = activity;
    // A line of text that is still open is not written yet, so it stays whole.
    if (activity !== "") write([activity]);
  }

  function follow(): void {
    const line = status ?? activityPart?.rows({ columns: columns(), rows: rows() }).lines[0] ?? "";
    const next = spokenActivity(stripVTControlCharacters(line));
    if (next === activity) return;
    activity = next;
    cancel();
    // The same activity is written again after a time without any.
    if (activity === "") spoken = "";
    else cancel = after(SETTLED_MS, speak);
  }

  return {
    get columns() {
      return columns();
    },
    get rows() {
      return rows();
    },
    text(chunk, paint) {
      const lines = `${open}${chunk}`.split("\n");
      open = lines.pop() ?? "";
      write(paint === undefined ? lines : lines.map((line) => paint(line)));
    },
    endText,
    block(lines) {
      endText();
      write(lines[0] === "" && isAfterEmptyLine ? lines.slice(1) : lines);
    },
    finished(lines) {
      endText();
      write(lines);
    },
    status(line) {
      status = line;
      follow();
    },
    part(place, part) {
      if (place !== "activity") return;
      activityPart = part;
      follow();
    },
    changed: follow,
    control(sequence) {
      if (sequences && sequence !== "") terminal.write(sequence);
    },
    redraw: speak,
    flush: speak,
    suspend() {},
    resume() {},
    close() {
      cancel();
      endText();
    },
  };
}
