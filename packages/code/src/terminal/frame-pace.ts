/** Calls back after so many milliseconds. @returns the function that cancels the call */
export type After = (ms: number, done: () => void) => () => void;

/** Uses the timers of this process. A call without a delay comes after the events that are being handled. */
export const afterTimer: After = (ms, done) => {
  if (ms > 0) {
    const timer = setTimeout(done, ms);
    return () => clearTimeout(timer);
  }
  const immediate = setImmediate(done);
  return () => clearImmediate(immediate);
};

export interface FrameRequest {
  /** True for a key that was typed: its frame does not wait for the pace. */
  readonly soon?: boolean;
}

/** Decides when frames are drawn. */
export interface FramePace {
  /** Asks for a frame. Requests of the same moment share one. */
  request(request?: FrameRequest): void;
  /** Draws now, whether or not a frame was asked for. */
  flush(): void;
  /** Cancels the frame that waits. */
  cancel(): void;
}

export interface FramePaceOptions {
  draw(): void;
  readonly after?: After | undefined;
  /** A clock in milliseconds that never goes back. */
  readonly now?: (() => number) | undefined;
}

const FRAME_MS = 33;
const MAX_PAUSE_MS = 1_000;
/** Times that a frame took until the next one: a terminal that is slow blocks the process for at most a fifth of the time. */
const PAUSE_PER_FRAME = 4;

export function createFramePace({ draw, after = afterTimer, now = () => performance.now() }: FramePaceOptions): FramePace {
  let lastEnd = Number.NEGATIVE_INFINITY;
  let lastTook = 0;
  let waiting: { readonly due: number; cancel(): void } | undefined;

  function cancel(): void {
    waiting?.cancel();
    waiting = undefined;
  }

  function flush(): void {
    cancel();
    const start = now();
    try {
      draw();
    } finally {
      lastEnd = now();
      lastTook = lastEnd - start;
    }
  }

  return {
    request({ soon = false } = {}) {
      const pause = soon ? lastTook : Math.max(FRAME_MS, PAUSE_PER_FRAME * lastTook);
      const due = lastEnd + Math.min(MAX_PAUSE_MS, pause);
      if (waiting !== undefined && waiting.due <= due) return;
      cancel();
      waiting = { due, cancel: after(Math.max(0, due - now()), flush) };
    },
    flush,
    cancel,
  };
}
