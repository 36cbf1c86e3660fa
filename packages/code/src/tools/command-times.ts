import type { BashInput } from "./bash-input.ts";

const DEFAULT_SECONDS = 60;
/** A longer command belongs into the background. */
export const MAX_SECONDS = 3600;
/** A command that was given more time may be silent for so long. */
const MAX_DEFAULT_SILENCE = 300;

/** The limits of a command, in seconds. */
export interface CommandTimes {
  readonly total: number;
  /** Time without any output. */
  readonly silence: number;
}

/** Returns the limits that a call asks for. Without a limit of its own, a command may be silent for its whole time, up to five minutes. */
export function commandTimes({ timeout_seconds: total = DEFAULT_SECONDS, silence_seconds }: BashInput): CommandTimes {
  return { total, silence: silence_seconds ?? Math.max(DEFAULT_SECONDS, Math.min(total, MAX_DEFAULT_SILENCE)) };
}

/** Fires a signal when nothing was heard for a time. */
export class SilenceLimit implements Disposable {
  readonly #controller = new AbortController();
  readonly #ms: number;
  #timer: NodeJS.Timeout;

  constructor(seconds: number) {
    this.#ms = seconds * 1000;
    this.#timer = this.#start();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The command printed something. */
  heard(): void {
    clearTimeout(this.#timer);
    this.#timer = this.#start();
  }

  #start(): NodeJS.Timeout {
    return setTimeout(() => this.#controller.abort("silent"), this.#ms);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
