import type { ProviderClock } from "keelson/providers";

/** A clock that moves when it is told to, and runs what is due in order. */
export interface ManualClock extends ProviderClock {
  advance(ms: number): Promise<void>;
}

export function manualClock(start = 1_000_000): ManualClock {
  let now = start;
  let timers: { readonly at: number; readonly run: () => void }[] = [];
  return {
    now: () => now,
    after(ms, run) {
      const timer = { at: now + ms, run };
      timers.push(timer);
      return () => {
        timers = timers.filter((each) => each !== timer);
      };
    },
    async advance(ms) {
      const end = now + ms;
      for (;;) {
        const due = timers.filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)[0];
        if (due === undefined) break;
        timers = timers.filter((each) => each !== due);
        now = Math.max(now, due.at);
        due.run();
        await settled();
      }
      now = end;
      await settled();
    },
  };
}

/** Whatever follows by promises alone has happened: they come before the next turn of the event loop, however many they are. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
