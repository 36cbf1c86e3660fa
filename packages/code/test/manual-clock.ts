import type { After } from "../src/terminal/frame-pace.ts";

/** A clock that a test moves. */
export interface ManualClock {
  now(): number;
  readonly after: After;
  /** Moves the clock and makes the calls that become due, in order. */
  advance(ms: number): void;
  /** Moves the clock without any call, as in a process that is blocked. */
  block(ms: number): void;
}

export function createManualClock(): ManualClock {
  let time = 0;
  let calls: { readonly due: number; done(): void }[] = [];
  return {
    now: () => time,
    after(ms, done) {
      const call = { due: time + ms, done };
      calls.push(call);
      return () => {
        calls = calls.filter((other) => other !== call);
      };
    },
    advance(ms) {
      const end = time + ms;
      for (;;) {
        const next = calls.filter(({ due }) => due <= end).toSorted((a, b) => a.due - b.due)[0];
        if (next === undefined) break;
        calls = calls.filter((other) => other !== next);
        time = Math.max(time, next.due);
        next.done();
      }
      time = Math.max(time, end);
    },
    block(ms) {
      time += ms;
    },
  };
}
