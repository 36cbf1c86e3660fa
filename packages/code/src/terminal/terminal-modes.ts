/** The output of a terminal. Its writes must be done before the process ends, as those of Node to a terminal are. */
export interface ModesOutput {
  write(text: string): unknown;
}

export type EndingSignal = "SIGHUP" | "SIGINT" | "SIGTERM" | "SIGQUIT";
type ModesSignal = EndingSignal | "SIGTSTP" | "SIGCONT";

/** The part of a process that switches the modes of its terminal. */
export interface ModesProcess {
  readonly pid: number;
  on(event: "exit" | ModesSignal, listener: () => void): unknown;
  off(event: "exit" | ModesSignal, listener: () => void): unknown;
  listenerCount(event: ModesSignal): number;
  kill(pid: number, signal: ModesSignal | "SIGSTOP"): unknown;
}

export interface TerminalModesOptions {
  readonly process: ModesProcess;
  /** Called before the process stops (Ctrl-Z): the live region must be removed, and the input must leave raw mode. */
  onStop?(): void;
  /** Called when the process runs again. */
  onContinue?(): void;
}

/** The modes that a terminal is in until `leave`. */
export interface TerminalModes {
  /** Switches the modes off. It does so once, also if the process ends in another way. */
  leave(): void;
  /** Stops the process with its job, as Ctrl-Z does, and switches the modes on again when it continues. */
  suspend(): void;
}

const BRACKETED_PASTE = { on: "\u001b[?2004h", off: "\u001b[?2004l" };
const FOCUS_REPORTS = { on: "\u001b[?1004h", off: "\u001b[?1004l" };
// Each key with modifiers is a sequence of its own. The terminal keeps a stack of these flags: the first sequence pushes, the other one pops.
const KITTY_KEYBOARD = { on: "\u001b[>1u", off: "\u001b[<u" };
// The same for terminals that know xterm's older way. One that knows neither may take the sequence for a style, which is reset.
const MODIFY_OTHER_KEYS = { on: "\u001b[>4;2m\u001b[m", off: "\u001b[>4;0m\u001b[m" };
// These may be left in another state by a frame that was cut off.
const END_FRAME = "\u001b[?2026l\u001b[?7h\u001b[?25h";

const MODES = [BRACKETED_PASTE, FOCUS_REPORTS, KITTY_KEYBOARD, MODIFY_OTHER_KEYS];
const ENTER = MODES.map(({ on }) => on).join("");
const LEAVE = `${MODES.toReversed()
  .map(({ off }) => off)
  .join("")}${END_FRAME}`;

const ENDING_SIGNALS: readonly EndingSignal[] = ["SIGHUP", "SIGINT", "SIGTERM", "SIGQUIT"];

/**
 * Switches a terminal to the modes that an editor needs. They are switched off by `leave`, when the process exits, before a signal ends it, and while
 * it is stopped.
 */
export function enterTerminal(output: ModesOutput, { process, onStop, onContinue }: TerminalModesOptions): TerminalModes {
  let isOn = false;
  const undo: (() => void)[] = [];

  function switchModes(on: boolean): void {
    if (on === isOn) return;
    isOn = on;
    output.write(on ? ENTER : LEAVE);
  }

  function listen(event: "exit" | ModesSignal, listener: () => void): void {
    process.on(event, listener);
    undo.push(() => process.off(event, listener));
  }

  function leave(): void {
    switchModes(false);
    for (const remove of undo.splice(0)) remove();
  }

  /** @param target the process, or 0 for all processes of its job */
  function stop(target: number): void {
    onStop?.();
    switchModes(false);
    process.kill(target, "SIGSTOP");
  }

  listen("exit", leave);
  for (const signal of ENDING_SIGNALS)
    listen(signal, () => {
      // Another listener decides what the signal does; without one it ends the process, as it would without this listener.
      if (process.listenerCount(signal) > 1) return;
      leave();
      process.kill(process.pid, signal);
    });
  listen("SIGTSTP", () => stop(process.pid));
  listen("SIGCONT", () => {
    // The shell has set its own modes, also if the process was stopped in a way that it could not notice.
    switchModes(false);
    switchModes(true);
    onContinue?.();
  });
  switchModes(true);

  return { leave, suspend: () => stop(0) };
}
