/** Wakes whoever waits for it. */
export interface Alarm {
  ring(): void;
  /** Resolves at the next ring. Ask for it before looking at what may have rung, so that nothing slips in between. */
  next(): Promise<void>;
}

/** For one who waits; a ring between two waits is heard by whoever asked for the next one first. */
export function createAlarm(): Alarm {
  let ring = (): void => {};
  return {
    ring: () => ring(),
    next: () =>
      new Promise((resolve) => {
        ring = resolve;
      }),
  };
}
