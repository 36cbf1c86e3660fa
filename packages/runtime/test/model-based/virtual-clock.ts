import type { Clock } from "keelson/session";

interface Timer {
  readonly at: number;
  /** Belongs to a tool or model of the test. */
  readonly own: boolean;
  readonly run: () => void;
}

/** A slow watcher takes one event a turn. */
const MAX_IDLE_TURNS = 20_000;

/** Time that passes only when nothing else is left to do, and that knows every timer which is open. */
export class VirtualClock implements Clock {
  #now = 1_700_000_000_000;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    return this.#arm(ms, run, false);
  }

  /** For the tools and models of a test: a timer that is nobody's leak. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.#arm(ms, resolve, true));
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

  #arm(ms: number, run: () => void, own: boolean): () => void {
    const timer = { at: this.#now + Math.max(0, ms), run, own };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  #earliest(): Timer | undefined {
    let found: Timer | undefined;
    for (const timer of this.#timers) if (found === undefined || timer.at < found.at) found = timer;
    return found;
  }
}
