/** Repeats `tick` every `everyMs` until the returned function is called. */
export type Poll = (tick: () => void, everyMs: number) => () => void;

/** A timer that keeps its process alive: for those who wait for others to act, not to be told. */
export const pollAlive: Poll = (tick, everyMs) => {
  const timer = setInterval(tick, everyMs);
  return () => clearInterval(timer);
};

/** A timer that keeps no process alive. */
export const pollByTimer: Poll = (tick, everyMs) => {
  const timer = setInterval(tick, everyMs);
  timer.unref();
  return () => clearInterval(timer);
};
