/** Time, injected: tests bring their own. `after` calls back once; the returned function cancels it and is harmless later. */
export interface Clock {
  now(): number;
  /** @param options.keepAlive whether the process must stay for it. Default true. */
  after(ms: number, run: () => void, options?: { readonly keepAlive?: boolean }): () => void;
}

const MAX_TIMEOUT_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, run, options) {
    if (ms > MAX_TIMEOUT_MS) return afterLong(ms, run, options);
    const timer = setTimeout(run, Math.max(0, ms));
    if (options?.keepAlive === false) timer.unref();
    return () => clearTimeout(timer);
  },
};

/** A longer wait than a platform timer can hold is made of several. */
const afterLong: Clock["after"] = (ms, run, options) => {
  let timer: NodeJS.Timeout | undefined;
  const arm = (left: number): void => {
    timer = setTimeout(left > MAX_TIMEOUT_MS ? () => arm(left - MAX_TIMEOUT_MS) : run, Math.min(left, MAX_TIMEOUT_MS));
    if (options?.keepAlive === false) timer.unref();
  };
  arm(ms);
  return () => clearTimeout(timer);
};
