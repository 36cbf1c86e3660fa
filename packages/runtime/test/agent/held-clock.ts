import type { Clock } from "keelson/session";
import { manualClock } from "../wires/manual-clock.ts";

/** A clock that moves when it is told to, and says when somebody waits for so long. */
export function heldClock(): Clock & { advance(ms: number): Promise<void>; waiting(ms: number): Promise<void> } {
  const clock = manualClock();
  const begun: number[] = [];
  const watchers: { readonly ms: number; readonly tell: () => void }[] = [];
  return {
    now: () => clock.now(),
    advance: (ms) => clock.advance(ms),
    after(ms, run, options) {
      if (options?.keepAlive === false) return () => {};
      begun.push(ms);
      const watcher = watchers.findIndex((one) => one.ms === ms);
      if (watcher >= 0) watchers.splice(watcher, 1)[0]?.tell();
      return clock.after(ms, run);
    },
    /** Resolves when a wait of so many ms has begun that no earlier call of this was told of. */
    waiting(ms) {
      const index = begun.indexOf(ms);
      if (index >= 0) {
        begun.splice(index, 1);
        return Promise.resolve();
      }
      return new Promise((resolve) => {
        watchers.push({
          ms,
          tell: () => {
            begun.splice(begun.indexOf(ms), 1);
            resolve();
          },
        });
      });
    },
  };
}
