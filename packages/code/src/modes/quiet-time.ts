import type { After } from "../terminal/after-reading.ts";

/** A person who was still typing when a question came up has read it after such a pause, and not before. */
export const QUIET_MS = 500;

/** Waits for a pause in what a person types. */
export interface QuietTime {
  /** Starts waiting; earlier waiting is over. */
  await(then: () => void): void;
  /** A key came: what is waited for begins again. */
  key(): void;
  cancel(): void;
}

export function createQuietTime(after: After): QuietTime {
  let then: (() => void) | undefined;
  let cancel = (): void => {};
  function restart(): void {
    cancel();
    cancel = after(QUIET_MS, () => {
      const done = then;
      then = undefined;
      done?.();
    });
  }
  return {
    await(next) {
      then = next;
      restart();
    },
    key() {
      if (then !== undefined) restart();
    },
    cancel() {
      then = undefined;
      cancel();
    },
  };
}
