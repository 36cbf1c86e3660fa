import type { Tool, ToolCall, ToolOutput } from "@keelson/protocol";
import type { LeafControl } from "./leaf-control.ts";

/** `after` calls back once; the returned function cancels it. */
export interface LeafClock {
  after(ms: number, run: () => void): () => void;
  /** Unix ms. Without it a leaf whose time stood still has all of its time again. */
  now?(): number;
}

export type LeafEnding =
  | { readonly type: "returned"; readonly value: ToolOutput | void }
  | { readonly type: "threw"; readonly error: unknown }
  | { readonly type: "timeout" }
  | { readonly type: "cancelled"; readonly started: boolean };

const DEFAULT_GRACE_MS = 500;

export const platformClock: LeafClock = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** Runs a tool's function to its first end: it settles, runs out of time, or is cancelled and ignores it. */
export async function runLeaf(
  tool: Tool,
  value: unknown,
  call: ToolCall,
  options: { readonly clock?: LeafClock | undefined; readonly graceMs?: number | undefined },
  control?: LeafControl,
): Promise<LeafEnding> {
  const { clock = platformClock, graceMs = DEFAULT_GRACE_MS } = options;
  const { timeoutMs } = tool;
  const { signal } = call;
  if (signal.aborted) return { type: "cancelled", started: false };
  let over = false;
  // Only a tool that may be ended before its run needs a signal of its own.
  const controller = timeoutMs === undefined && control === undefined ? undefined : new AbortController();
  const leafCall: ToolCall = {
    ...call,
    signal: controller?.signal ?? signal,
    progress(message, ratio) {
      if (!over) call.progress(message, ratio);
    },
  };
  const working = (async () => tool.execute(value, leafCall))();

  return new Promise((resolve) => {
    /** Set once the signal fired; from then on only the grace is waited for. */
    let verdict: "timeout" | "cancelled" | undefined;
    let cancelTimer: (() => void) | undefined;
    const end = (ending: LeafEnding): void => {
      if (over) return;
      over = true;
      cancelTimer?.();
      control?.listen(undefined);
      signal.removeEventListener("abort", onAbort);
      resolve(ending);
    };
    const stop = (reason: "timeout" | "cancelled", abortReason: unknown, grace: number = graceMs): void => {
      if (over || verdict !== undefined) return;
      verdict = reason;
      cancelTimer?.();
      const giveUp = (): void => end(reason === "timeout" ? { type: reason } : { type: reason, started: true });
      if (grace > 0) cancelTimer = clock.after(grace, giveUp);
      controller?.abort(abortReason);
      if (grace <= 0) giveUp();
    };
    const onAbort = (): void => stop("cancelled", signal.reason);
    const onThrow = (error: unknown): void => {
      // After the signal fired, how a tool dies of it says less than why it had to.
      end(verdict === undefined ? { type: "threw", error } : verdict === "timeout" ? { type: verdict } : { type: verdict, started: true });
    };

    signal.addEventListener("abort", onAbort, { once: true });
    let left = timeoutMs;
    let startedAt: number | undefined;
    const startTimer = (): void => {
      if (timeoutMs === undefined || left === undefined) return;
      startedAt = clock.now?.();
      cancelTimer = clock.after(left, () =>
        stop("timeout", new DOMException(`The tool "${tool.name}" ran longer than ${timeoutMs} ms`, "TimeoutError")),
      );
    };
    const stopTimer = (): void => {
      cancelTimer?.();
      if (left === undefined || startedAt === undefined) return;
      left = Math.max(0, left - Math.max(0, (clock.now?.() ?? startedAt) - startedAt));
    };
    startTimer();
    control?.listen({
      held(isHeld) {
        if (over || verdict !== undefined) return;
        if (isHeld) stopTimer();
        else startTimer();
      },
      ended: (reason, grace) => stop("cancelled", reason, grace),
    });
    // `then` with both arguments: a result or failure that comes after the end is dropped, and never unhandled.
    working.then((returned) => end({ type: "returned", value: returned }), onThrow);
    // The tool itself may have had the run aborted.
    if (signal.aborted) onAbort();
  });
}
