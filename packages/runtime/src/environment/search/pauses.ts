import { setImmediate } from "node:timers/promises";

// Short enough for a terminal and a server to stay responsive.
const WORK_MS = 5;

/** Gives the event loop time for other work during long synchronous work. */
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
