import { type After, afterReading } from "../terminal/after-reading.ts";

/** The pauses of a show, which a person can skip. */
export interface ShowPace {
  /** Rejects if the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Ends the pauses under way, and all later ones until the next step. */
  skip(): void;
  /** A new step begins: its pauses last again. */
  step(): void;
}

export interface ShowPaceOptions {
  readonly after?: After;
  /** A clock in milliseconds that never goes back. Default: that of this process. */
  readonly now?: () => number;
}

/** The time after which pauses are shorter: on a slow machine the show ends within a minute or little more, too. */
export const HURRY_AFTER_MS = 45_000;
const HURRY = 4;

export function createShowPace({ after = afterReading, now = () => performance.now() }: ShowPaceOptions = {}): ShowPace {
  const startedAt = now();
  const lengthOf = (ms: number): number => (now() - startedAt < HURRY_AFTER_MS ? ms : ms / HURRY);
  let isSkipping = false;
  const sleepers = new Set<() => void>();
  return {
    sleep(ms, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const stop = (): void => {
        cancel();
        sleepers.delete(wake);
        signal?.removeEventListener("abort", onAbort);
      };
      const wake = (): void => {
        stop();
        resolve();
      };
      const onAbort = (): void => {
        stop();
        reject(signal?.reason);
      };
      const cancel = isSkipping || ms === 0 ? immediately(wake) : after(lengthOf(ms), wake);
      sleepers.add(wake);
      signal?.addEventListener("abort", onAbort);
      if (signal?.aborted === true) onAbort();
      return promise;
    },
    skip() {
      isSkipping = true;
      for (const wake of [...sleepers]) wake();
    },
    step() {
      isSkipping = false;
    },
  };
}

/** Calls back after the events that wait now. @returns a function that cancels the call */
function immediately(done: () => void): () => void {
  const immediate = setImmediate(done);
  return () => clearImmediate(immediate);
}
