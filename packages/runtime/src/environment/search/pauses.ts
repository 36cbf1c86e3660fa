import { setImmediate } from "node:timers/promises";

// Short enough for a terminal and a server to stay responsive.
const WORK_MS = 5;

/** Lets the event loop do other work now and then during work that would not. */
export interface Pauses {
  /** True if the work has gone on for long enough. */
  isDue(): boolean;
  pause(): Promise<void>;
}

export function createPauses(now: () => number = () => performance.now()): Pauses {
  let since = now();
  return {
    isDue: () => now() - since >= WORK_MS,
    async pause() {
      await setImmediate();
      since = now();
    },
  };
}
