import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock, type Clock } from "../../platform/clock.ts";

/** A clock that all processes with the same directory share. */
export interface ScenarioClock extends Clock {
  /** Lets time go by. */
  pass(ms: number): void;
}

const LONG_WAIT_MS = 60_000;

/**
 * The time of day, and what a scenario let pass on top of it. Nobody waits for a retry: what takes less than a minute is over at
 * once, unless it keeps no process alive, as leases do.
 */
export function scenarioClock(directory: string): ScenarioClock {
  const file = join(directory, "time-passed");
  const passed = (): number => {
    try {
      return Number(readFileSync(file, "utf8"));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return 0;
      throw error;
    }
  };
  return {
    now: () => systemClock.now() + passed(),
    pass: (ms) => writeFileSync(file, String(passed() + ms)),
    after: (ms, run, options) => systemClock.after(options?.keepAlive !== false && ms < LONG_WAIT_MS ? 0 : ms, run, options),
  };
}
