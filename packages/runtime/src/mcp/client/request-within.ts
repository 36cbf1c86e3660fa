import { McpError } from "@keelson/protocol";
import type { Clock } from "../../platform/clock.ts";

export interface RequestBounds {
  readonly server: string;
  /** What is asked, as in "calling search". */
  readonly doing: string;
  readonly clock: Clock;
  /** Without an answer or a sign of life for so long, the request fails. */
  readonly timeoutMs: number;
  /** The request fails after this time, with any signs of life. The time in which the server waits for an answer of a person or model does not count. */
  readonly maxTotalMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** A request on its way. */
export interface RequestControl {
  /** Fires when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** The server showed that it works on it. */
  isAlive(): void;
  /** Ends the request with this error. */
  fail(error: Error): void;
  /** Resolves after so long. */
  pause(ms: number): Promise<void>;
  /** Time does not count while the server itself waits for this. */
  hold<T>(work: () => Promise<T>): Promise<T>;
}

/** Does a request within its bounds. Once these are over it does not wait for `work`, whose signal has fired. */
export async function requestWithin<T>(bounds: RequestBounds, work: (control: RequestControl) => Promise<T>): Promise<T> {
  const { server, doing, clock, timeoutMs, maxTotalMs, signal } = bounds;
  const ending = new AbortController();
  const { promise: failed, reject } = Promise.withResolvers<never>();
  failed.catch(() => {});
  const fail = (error: Error): void => {
    reject(error);
    ending.abort(error);
  };
  const cancel = (): void =>
    fail(new McpError({ kind: "other", message: `It was cancelled: ${doing} of the server "${server}".` }, { cause: signal?.reason }));
  let cancelAlarm = (): void => {};
  let armedAt: number | undefined;
  let leftMs = maxTotalMs;
  let holds = 0;
  const disarm = (): void => {
    cancelAlarm();
    if (armedAt !== undefined) leftMs -= Math.max(0, clock.now() - armedAt);
    armedAt = undefined;
  };
  const arm = (): void => {
    disarm();
    if (holds > 0) return;
    armedAt = clock.now();
    const isLast = leftMs <= timeoutMs;
    cancelAlarm = clock.after(Math.max(0, isLast ? leftMs : timeoutMs), () => {
      const [ms, option] = isLast && maxTotalMs > timeoutMs ? [maxTotalMs, "maxTotalMs"] : [timeoutMs, "timeoutMs"];
      const message = `The server "${server}" did not answer ${doing} within ${ms} ms (\`${option}\`).`;
      fail(new McpError({ kind: "timeout", server, timeoutMs: ms, message }));
    });
  };
  const control: RequestControl = {
    signal: ending.signal,
    isAlive: arm,
    pause: (ms) => new Promise((resolve) => void clock.after(ms, resolve)),
    fail,
    async hold(wait) {
      holds++;
      disarm();
      try {
        return await wait();
      } finally {
        holds--;
        if (!ending.signal.aborted) arm();
      }
    },
  };
  if (signal?.aborted === true) cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  if (!ending.signal.aborted) arm();
  try {
    if (ending.signal.aborted) return await failed;
    return await Promise.race([work(control), failed]);
  } finally {
    disarm();
    holds = Number.POSITIVE_INFINITY;
    signal?.removeEventListener("abort", cancel);
  }
}
