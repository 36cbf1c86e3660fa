import type { Tool, ToolCall, ToolOutput } from "@keelson/protocol";

/** `after` calls back once; the returned function cancels it. */
export interface LeafClock {
  after(ms: number, run: () => void): () => void;
}

export type LeafEnding =
  | { readonly type: "returned"; readonly value: ToolOutput | void }
  | { readonly type: "threw"; readonly error: unknown }
  | { readonly type: "timeout" }
  | { readonly type: "cancelled"; readonly started: boolean };

const DEFAULT_GRACE_MS = 500;

const platformClock: LeafClock = {
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** Runs a tool's function to its first end: it settles, runs out of time, or is cancelled and does not heed it. */
export function runLeaf(
  tool: Tool,
  value: unknown,
  call: ToolCall,
  options: { readonly clock?: LeafClock; readonly graceMs?: number },
): Promise<LeafEnding> {
  const { clock = platformClock, graceMs = DEFAULT_GRACE_MS } = options;
  const { timeoutMs } = tool;
  if (call.signal.aborted) return Promise.resolve({ type: "cancelled", started: false });

  return new Promise((resolve) => {
    let over = false;
    /** Set once the signal fired; from then on only the grace is waited for. */
    let verdict: "timeout" | "cancelled" | undefined;
    let cancelTimer: (() => void) | undefined;
    // Only a tool's own limit needs a signal of its own.
    const controller = timeoutMs === undefined ? undefined : new AbortController();

    const end = (ending: LeafEnding): void => {
      if (over) return;
      over = true;
      cancelTimer?.();
      call.signal.removeEventListener("abort", onAbort);
      resolve(ending);
    };
    const stop = (reason: "timeout" | "cancelled", abortReason: unknown): void => {
      if (over || verdict !== undefined) return;
      verdict = reason;
      cancelTimer?.();
      const giveUp = (): void => end(reason === "timeout" ? { type: reason } : { type: reason, started: true });
      if (graceMs > 0) cancelTimer = clock.after(graceMs, giveUp);
      controller?.abort(abortReason);
      if (graceMs <= 0) giveUp();
    };
    const onAbort = (): void => stop("cancelled", call.signal.reason);
    const onThrow = (error: unknown): void => {
      // After the signal fired, how a tool dies of it says less than why it had to.
      end(verdict === undefined ? { type: "threw", error } : verdict === "timeout" ? { type: verdict } : { type: verdict, started: true });
    };

    call.signal.addEventListener("abort", onAbort, { once: true });
    if (timeoutMs !== undefined) {
      cancelTimer = clock.after(timeoutMs, () =>
        stop("timeout", new DOMException(`The tool "${tool.name}" ran longer than ${timeoutMs} ms`, "TimeoutError")),
      );
    }
    const leafCall: ToolCall = {
      ...call,
      signal: controller?.signal ?? call.signal,
      progress(message, ratio) {
        if (!over) call.progress(message, ratio);
      },
    };
    try {
      // `then` with both arguments: a result or failure that comes after the end is dropped, and never unhandled.
      Promise.resolve(tool.execute(value, leafCall)).then((returned) => end({ type: "returned", value: returned }), onThrow);
    } catch (error) {
      onThrow(error);
    }
  });
}
