import type { Clock } from "keelson/session";

interface Timer {
  readonly at: number;
  /** Belongs to a tool or model of the test. */
  readonly own: boolean;
  readonly process: object | undefined;
  readonly run: () => void;
}

/** Time as one process has it. */
export interface ProcessClock extends Clock {
  /** For the tools and models of a test: a timer that is nobody's leak. */
  sleep(ms: number): Promise<void>;
  /** No timer of this process fires any more. */
  end(): void;
}

/** A slow watcher takes one event a turn. */
const MAX_IDLE_TURNS = 20_000;

/** Time that passes only when nothing else is left to do, and that knows every timer which is open. */
export class VirtualClock {
  #now = 1_700_000_000_000;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#now;
  }

  ofProcess(): ProcessClock {
    const process = {};
    let isOver = false;
    const arm = (ms: number, run: () => void, own: boolean): (() => void) => {
      if (isOver) return () => {};
      const timer = { at: this.#now + Math.max(0, ms), run, own, process };
      this.#timers.add(timer);
      return () => this.#timers.delete(timer);
    };
    return {
      now: () => this.#now,
      after: (ms, run) => arm(ms, run, false),
      sleep: (ms) => new Promise((resolve) => arm(ms, resolve, true)),
      end: () => {
        isOver = true;
        for (const timer of this.#timers) if (timer.process === process) this.#timers.delete(timer);
      },
    };
  }

  /** Time goes by while nothing is at work. */
  advanceTo(at: number): void {
    this.#now = Math.max(this.#now, at);
  }

  /** Timers that neither fired nor were cancelled. */
  get open(): number {
    return [...this.#timers].filter(({ own }) => !own).length;
  }

  /** Lets time pass until `work` is settled, by `limitMs` at most. @returns whether it is */
  async passUntil(work: Promise<unknown>, limitMs: number): Promise<boolean> {
    let settled = false;
    work.then(
      () => (settled = true),
      () => (settled = true),
    );
    const end = this.#now + limitMs;
    for (let idle = 0; idle < MAX_IDLE_TURNS;) {
      await new Promise((resolve) => setImmediate(resolve));
      if (settled) return true;
      const next = this.#earliest();
      if (next === undefined || next.at > end) {
        idle++;
        continue;
      }
      idle = 0;
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.run();
    }
    return settled;
  }

  #earliest(): Timer | undefined {
    let found: Timer | undefined;
    for (const timer of this.#timers) if (found === undefined || timer.at < found.at) found = timer;
    return found;
  }
}
