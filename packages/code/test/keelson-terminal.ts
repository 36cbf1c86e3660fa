import { spawn } from "@lydell/node-pty";
import xterm from "@xterm/headless";
import { CLI, type Workspace } from "./keelson-process.ts";
import { PAUSE } from "./pause-key.ts";

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
  /** The exit code. */
  readonly exited: Promise<number>;
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
}

/** At the cursor's row alone: behind this sign an answer to an approval's question is read. */
export const HEARD: RegExp = /\n.*(?:a\[b\]ort|\/b\]) › [^\n]*$/;

const PATIENCE_MS = 40_000;
const TIME_BY_HAND = new URL("time-by-hand.ts", import.meta.url).href;

export function openTerminal(
  workspace: Pick<Workspace, "project" | "environment">,
  args: readonly string[],
  { columns = 80, rows = 40, env = {}, cwd = workspace.project, timeByHand = false, entry = CLI, preload }: TerminalOptions = {},
): KeelsonTerminal {
  const screen = new xterm.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true });
  const preloads = [...(timeByHand ? [TIME_BY_HAND] : []), ...(preload === undefined ? [] : [preload])];
  const pty = spawn(process.execPath, ["--conditions=source", ...preloads.map((url) => `--import=${url}`), entry, ...args], {
    name: "xterm-256color",
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
  pty.onData((data) => screen.write(data, told));
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
    type: (keys) => pty.write(keys),
    pause() {
      if (!timeByHand) throw new Error("open the terminal with `timeByHand` to pause in it");
      pty.write(PAUSE);
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
    exited,
    async [Symbol.asyncDispose]() {
      if (!ended) pty.kill("SIGKILL");
      await exited;
      screen.dispose();
    },
  };
}
