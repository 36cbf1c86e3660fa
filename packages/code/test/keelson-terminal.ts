import { spawn } from "@lydell/node-pty";
import xterm, { type IBufferLine } from "@xterm/headless";
import { CLI, type Workspace } from "./keelson-process.ts";
import { PAUSE } from "./pause-key.ts";
import { createSlowLink, type SlowLinkSpeed } from "./terminal/slow-link.ts";

/** `keelson` in a terminal: a real pseudo-terminal, and a screen that shows what a person would see. */
export interface KeelsonTerminal extends AsyncDisposable {
  /** Keys, as a terminal sends them: Enter is "\r". */
  type(keys: string): void;
  /** With `timeByHand`: a person who typed what was typed so far now pauses for as long as a question waits for. */
  pause(): void;
  /** Once what was written so far is on the screen. */
  resize(columns: number): Promise<void>;
  /** The rows of the screen up to that of the cursor. Below it are the status line, and the choices of a list. */
  rows(): readonly string[];
  /** Everything that is on the screen now, without the empty rows at its end. */
  all(): readonly string[];
  /** True if a cell of the screen or of the scrollback has a colour. */
  hasColors(): boolean;
  /** Everything since the start, what scrolled away included. */
  transcript(): string;
  /** Resolves when the rows of the screen, joined, match; rejects with what it shows when the process ends before, or it takes too long. */
  until(pattern: RegExp): Promise<void>;
  /** The same for everything that is on the screen. */
  untilAll(pattern: RegExp): Promise<void>;
  /** The modes that the program has switched on. */
  modes(): { readonly bracketedPaste: boolean; readonly focusReports: boolean };
  /** Closes the window of the terminal. */
  hangUp(): void;
  /** Everything that the process has written so far. */
  written(): string;
  /** The styles of the letters of a text in the last row of the screen that contains it. */
  styles(text: string): readonly LetterStyle[];
  /** The exit code. */
  readonly exited: Promise<number>;
}

/** The look of a letter. Colours have numbers of the palette; -1 is the default of the terminal. */
export interface LetterStyle {
  readonly letter: string;
  readonly color: number;
  readonly background: number;
  readonly isBold: boolean;
  readonly isDim: boolean;
  readonly isUnderlined: boolean;
  readonly isInverse: boolean;
}

export interface TerminalOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: { readonly [name: string]: string };
  /** Default: that of the project. */
  readonly cwd?: string;
  /** No pause in what is typed comes but by `pause()`, and no frame of the status by itself. */
  readonly timeByHand?: boolean;
  /** The program. Default: `keelson`. */
  readonly entry?: string;
  /** A module that is loaded before the program. */
  readonly preload?: string;
  /** The connection between the process and the screen. Default: nothing delays what is written and typed. */
  readonly link?: SlowLinkSpeed;
}

/** At the cursor's row alone: behind this sign an answer to an approval's question is read. */
export const HEARD: RegExp = /\n.*(?:a\[b\]ort|\/b\]) › [^\n]*$/;

const PATIENCE_MS = 40_000;
const TIME_BY_HAND = new URL("time-by-hand.ts", import.meta.url).href;

export function openTerminal(
  workspace: Pick<Workspace, "project" | "environment">,
  args: readonly string[],
  { columns = 80, rows = 40, env = {}, cwd = workspace.project, timeByHand = false, entry = CLI, preload, link }: TerminalOptions = {},
): KeelsonTerminal {
  const screen = new xterm.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true });
  const preloads = [...(timeByHand ? [TIME_BY_HAND] : []), ...(preload === undefined ? [] : [preload])];
  const pty = spawn(process.execPath, ["--conditions=source", ...preloads.map((url) => `--import=${url}`), entry, ...args], {
    name: env["TERM"] ?? "xterm-256color",
    cols: columns,
    rows,
    cwd,
    // The screen moves its rows as xterm.js does when the size changes.
    env: { ...workspace.environment, TERM_PROGRAM: "vscode", NO_COLOR: "1", ...env },
  });
  let ended = false;
  let notice = Promise.withResolvers<void>();
  const told = (): void => {
    notice.resolve();
    notice = Promise.withResolvers();
  };
  let written = "";
  const slow = link && createSlowLink(pty, { ...link, show: (bytes) => screen.write(bytes, told) });
  pty.onData((data) => {
    written += data;
    if (slow === undefined) screen.write(data, told);
    else slow.carry(data);
  });
  const send = (keys: string): void => (slow === undefined ? pty.write(keys) : slow.type(keys));
  const exited = new Promise<number>((resolve) => {
    pty.onExit(({ exitCode }) => {
      ended = true;
      told();
      resolve(exitCode);
    });
  });

  function linesFrom(first: number): readonly string[] {
    const buffer = screen.buffer.active;
    const lines: string[] = [];
    for (let index = first; index < buffer.length; index += 1) lines.push(buffer.getLine(index)?.translateToString(true) ?? "");
    while (lines.at(-1) === "") lines.pop();
    return lines;
  }
  const all = (): readonly string[] => linesFrom(screen.buffer.active.baseY);
  const shown = (): readonly string[] => {
    const lines = all().slice(0, screen.buffer.active.cursorY + 1);
    while (lines.at(-1) === "") lines.pop();
    return lines;
  };

  async function matching(rows: () => readonly string[], pattern: RegExp): Promise<void> {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      told();
    }, PATIENCE_MS);
    try {
      while (!pattern.test(rows().join("\n"))) {
        if (ended || late) throw new Error(`${ended ? "keelson ended before" : "no"} ${pattern}:\n${linesFrom(0).join("\n")}`);
        await notice.promise;
      }
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    type: send,
    pause() {
      if (!timeByHand) throw new Error("open the terminal with `timeByHand` to pause in it");
      send(PAUSE);
    },
    async resize(width) {
      await new Promise<void>((resolve) => screen.write("", resolve));
      screen.resize(width, rows);
      pty.resize(width, rows);
    },
    rows: shown,
    all,
    hasColors() {
      const buffer = screen.buffer.active;
      const lines = Array.from({ length: buffer.length }, (_, index) => buffer.getLine(index));
      return lines.some((line) =>
        Array.from({ length: line?.length ?? 0 }).some((_, column) => line?.getCell(column)?.isFgDefault() === false),
      );
    },
    transcript: () => linesFrom(0).join("\n"),
    until: (pattern) => matching(shown, pattern),
    untilAll: (pattern) => matching(all, pattern),
    modes: () => ({ bracketedPaste: screen.modes.bracketedPasteMode, focusReports: screen.modes.sendFocusMode }),
    hangUp: () => pty.kill("SIGHUP"),
    written: () => written,
    styles(text) {
      const buffer = screen.buffer.active;
      for (let row = buffer.length - 1; row >= 0; row -= 1) {
        const line = buffer.getLine(row);
        const letters = lettersOf(line);
        const start = letters
          .map(({ letter }) => letter)
          .join("")
          .indexOf(text);
        if (start >= 0) return letters.slice(start, start + text.length);
      }
      throw new Error(`the screen does not show ${JSON.stringify(text)}:\n${linesFrom(0).join("\n")}`);
    },
    exited,
    async [Symbol.asyncDispose]() {
      if (!ended) pty.kill("SIGKILL");
      await exited;
      slow?.close();
      screen.dispose();
    },
  };
}

/** Letters that take two columns are found by text of one code unit each, so that places in the text are places in the list. */
function lettersOf(line: IBufferLine | undefined): readonly LetterStyle[] {
  return Array.from({ length: line?.length ?? 0 }, (_, column) => line?.getCell(column))
    .filter((cell) => cell !== undefined && cell.getWidth() > 0)
    .map((cell) => ({
      letter: cell?.getChars() || " ",
      color: cell?.isFgDefault() === true ? -1 : (cell?.getFgColor() ?? -1),
      background: cell?.isBgDefault() === true ? -1 : (cell?.getBgColor() ?? -1),
      isBold: cell?.isBold() !== 0,
      isDim: cell?.isDim() !== 0,
      isUnderlined: cell?.isUnderline() !== 0,
      isInverse: cell?.isInverse() !== 0,
    }));
}
