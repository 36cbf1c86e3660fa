/** A person who was still typing when a question came up has read it after such a pause, and not before. */
export const QUIET_MS = 500;

/** Calls back after so long. @returns takes it back */
export type After = (ms: number, done: () => void) => () => void;

/**
 * By this process's clock. Keys that came while the process was busy are read before it calls back: by the time alone, a pause
 * of the process would pass for a pause of the person.
 */
export const afterReading: After = (ms, done) => {
  let immediate: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    immediate = setImmediate(done);
  }, ms);
  return () => {
    clearTimeout(timer);
    clearImmediate(immediate);
  };
};

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
