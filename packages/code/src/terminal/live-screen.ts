import { carriedStyles } from "../text/carried-styles.ts";
import { truncated } from "../text/display-width.ts";
import { softWrapped } from "../text/wrapped.ts";
import { closedLine } from "./closed-line.ts";
import { createFinishedLines } from "./finished-lines.ts";
import { type After, createFramePace, type FrameRequest } from "./frame-pace.ts";
import { type LiveParts, layoutParts, stackedParts } from "./live-layout.ts";
import { LIVE_PLACES, type LivePart, type LivePlace, type LiveRows } from "./live-part.ts";
import { createLiveRegion, MIN_COLUMNS } from "./live-region.ts";
import { createOpenText } from "./open-text.ts";
import { reflowOf } from "./reflow.ts";
import type { Screen } from "./screen.ts";

/** The part of a terminal that a live screen needs. */
export interface Terminal {
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
  on?(event: "resize", listener: () => void): unknown;
  off?(event: "resize", listener: () => void): unknown;
}

/**
 * A terminal whose last rows are alive. All that is written above them is final and belongs to the scrollback of the terminal.
 * Finished lines and changes of parts are written with the next frame, in order.
 */
export interface LiveScreen extends Screen {
  /** Columns that a line may take: one less than the terminal has. */
  readonly columns: number;
  /** Rows that the live region may take: one less than the terminal has. */
  readonly rows: number;
  /** Puts a part into a place of the live region, or removes it. */
  part(place: LivePlace, part: LivePart | undefined): void;
  /** Asks for a frame, because a part has changed. */
  changed(request?: FrameRequest): void;
  /** Writes lines of a text that still grows above the live region, as they are: they are not wrapped, and no empty line is added or left out. */
  finished(lines: readonly string[]): void;
  /** Writes a sequence that moves no cursor and shows nothing, such as a title. */
  control(sequence: string): void;
  /** Draws all rows of the live region again, because another program has written to the terminal. */
  redraw(): void;
  /** Draws what has changed since the last frame now. */
  flush(): void;
  /** Removes the live region until `resume`, because another program gets the terminal. */
  suspend(): void;
  /** Draws the live region again, whatever was written in between. */
  resume(): void;
  /** Removes the live region and leaves what is finished. Lines that come later are written without delay. */
  close(): void;
}

/** The part of a process that says when it ends. */
export interface EndingProcess {
  once(event: "exit", listener: () => void): unknown;
  off(event: "exit", listener: () => void): unknown;
}

export interface LiveScreenOptions {
  /** The process whose end closes the screen, so that no finished line is lost. Default: none. */
  readonly process?: EndingProcess;
  /** Variables that say which terminal this is. Default: none, as in a terminal that is not known. */
  readonly environment?: { readonly [name: string]: string | undefined };
  /** Default: the timers of this process. */
  readonly after?: After;
  /** A clock in milliseconds that never goes back. Default: that of this process. */
  readonly now?: () => number;
}

/** Lines that wait for a frame take no more memory than this, in UTF-16 units. */
const MAX_WAITING = 64 * 1024;
const DEFAULT_SIZE = { columns: 80, rows: 24 };
const NO_ROWS: LiveRows = { lines: [] };

export function createLiveScreen(terminal: Terminal, { environment = {}, process, after, now }: LiveScreenOptions = {}): LiveScreen {
  const finished = createFinishedLines();
  const openText = createOpenText();
  const region = createLiveRegion(reflowOf(environment));
  const pace = createFramePace({ draw, after, now });
  /** Parts that the screen makes itself; each is shown above that of its place. */
  const own: { [place in LivePlace]?: LivePart | undefined } = { words: openText.part };
  const given: { [place in LivePlace]?: LivePart | undefined } = {};
  /** False if the live region is to take no rows. */
  let isLive = true;
  let isSuspended = false;
  let isClosed = false;
  let shownStatus: string | undefined;

  const columns = (): number => Math.max(MIN_COLUMNS, (terminal.columns ?? DEFAULT_SIZE.columns) - 1);
  const rows = (): number => Math.max(1, (terminal.rows ?? DEFAULT_SIZE.rows) - 1);

  function parts(): LiveParts {
    return Object.fromEntries(
      LIVE_PLACES.map((place) => [place, stackedParts([own[place], given[place]].filter((part) => part !== undefined))]),
    );
  }

  function draw(): void {
    if (isSuspended) return;
    finished.add(openText.wrap(columns()));
    const live = isLive ? layoutParts(parts(), { columns: columns(), rows: rows() }) : NO_ROWS;
    const text = region.frame(
      finished.take().map((line) => closedLine(line)),
      { lines: live.lines.map((line) => closedLine(line.replaceAll("\n", " "))), cursor: live.cursor },
      { columns: terminal.columns ?? DEFAULT_SIZE.columns, rows: terminal.rows ?? DEFAULT_SIZE.rows },
    );
    if (text !== "") terminal.write(text);
  }

  function request(options?: FrameRequest): void {
    if (isClosed || finished.length > MAX_WAITING) pace.flush();
    else pace.request(options);
  }

  function add(lines: readonly string[]): void {
    finished.add(lines);
    request();
  }

  // The terminal has already moved the rows, and the next size would move them again: they are drawn without delay.
  function redraw(): void {
    region.invalidate();
    pace.flush();
  }
  terminal.on?.("resize", redraw);
  process?.once("exit", close);

  function close(): void {
    if (isClosed) return;
    terminal.off?.("resize", redraw);
    process?.off("exit", close);
    finished.add(openText.end());
    isClosed = true;
    isSuspended = false;
    isLive = false;
    pace.flush();
  }

  return {
    get columns() {
      return columns();
    },
    get rows() {
      return rows();
    },
    text(chunk, paint = plain) {
      finished.add(openText.add(chunk, paint, columns()));
      request();
    },
    endText() {
      add(openText.end());
    },
    block(lines) {
      finished.add(openText.end());
      // Never two empty lines in a row.
      const added = lines[0] === "" && finished.isAfterEmptyLine ? lines.slice(1) : lines;
      add(added.flatMap((line) => carriedStyles(line.split("\n").flatMap((row) => softWrapped(row, columns())))));
    },
    finished(lines) {
      finished.add(openText.end());
      add(lines.flatMap((line) => carriedStyles(line.split("\n"))));
    },
    status(line) {
      if (line === shownStatus) return;
      shownStatus = line;
      own.activity = line === undefined ? undefined : { rows: (room) => ({ lines: [truncated(line, room.columns)] }) };
      request();
    },
    part(place, part) {
      given[place] = part;
      request();
    },
    changed: request,
    control(sequence) {
      if (sequence !== "") terminal.write(sequence);
    },
    redraw,
    flush: pace.flush,
    suspend() {
      if (isSuspended || isClosed) return;
      isLive = false;
      pace.flush();
      isSuspended = true;
      region.forget();
    },
    resume() {
      if (!isSuspended || isClosed) return;
      isSuspended = false;
      isLive = true;
      pace.flush();
    },
    close,
  };
}

function plain(text: string): string {
  return text;
}
