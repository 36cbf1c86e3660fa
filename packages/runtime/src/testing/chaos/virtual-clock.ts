import type { Clock } from "../../platform/clock.ts";

interface Timer {
  /** In ms that have passed, whatever the clock says. */
  readonly due: number;
  readonly keepAlive: boolean;
  readonly owner: { readonly state: "working" | "frozen" | "ended" };
  readonly run: () => void;
}

/** Time as one process has it. */
export interface ProcessClock extends Clock {
  /** While it is frozen none of its timers fires; once it is ended none will. */
  set(state: "working" | "frozen" | "ended"): void;
  /** Timers that keep the process, and neither fired nor were cancelled. */
  readonly open: number;
}

/** What waits for the machine, and not for time. `count` changes whenever something begins or ends. */
export interface Activity {
  readonly busy: boolean;
  readonly count: number;
}

/** Turns of the event loop without anything under way after which time may pass, and after which nothing will happen any more. */
const QUIET_TURNS = 3;
const IDLE_TURNS = 30;
/** Turns after which something under way is given real time, and how much of that before it is taken for something that waits for time. */
const BUSY_TURNS = 200;
const PATIENCE_MS = 2_000;
const MAX_TIMERS = 20_000;
const START = 1_700_000_000_000;

/** Time that passes only when nothing else is left to do: a run that waits for an hour takes no time at all. */
export class VirtualClock {
  #passed = 0;
  #offset = START;
  #wasSetBack = false;
  readonly #timers = new Set<Timer>();

  get wasSetBack(): boolean {
    return this.#wasSetBack;
  }

  now(): number {
    return this.#offset + this.#passed;
  }

  /** Somebody sets the clock: durations are as long as they were. */
  jump(ms: number): void {
    this.#offset += ms;
    this.#wasSetBack ||= ms < 0;
  }

  /** Time passes while nobody works. */
  pass(ms: number): void {
    this.#passed += Math.max(0, ms);
  }

  ofProcess(): ProcessClock {
    const owner: { state: "working" | "frozen" | "ended" } = { state: "working" };
    const timers = this.#timers;
    return {
      now: () => this.now(),
      after: (ms, run, options) => {
        const timer: Timer = { due: this.#passed + Math.max(0, ms), keepAlive: options?.keepAlive !== false, owner, run };
        timers.add(timer);
        return () => timers.delete(timer);
      },
      set(state) {
        owner.state = state;
        if (state === "ended") for (const timer of timers) if (timer.owner === owner) timers.delete(timer);
      },
      get open() {
        return [...timers].filter((timer) => timer.owner === owner && timer.keepAlive).length;
      },
    };
  }

  /** Lets time pass as far as it must until `work` is settled. @returns whether it is: else nothing will ever happen any more */
  async until(work: Promise<unknown>, activity: Activity): Promise<boolean> {
    let settled = false;
    const settle = (): void => {
      settled = true;
    };
    work.then(settle, settle);
    let fired = 0;
    for (let quiet = 0, same = 0, count = activity.count; ;) {
      await new Promise((resolve) => (same < BUSY_TURNS ? setImmediate(resolve) : setTimeout(resolve, 1)));
      if (settled) return true;
      same = activity.count === count ? same + 1 : 0;
      count = activity.count;
      if (activity.busy && same < BUSY_TURNS + PATIENCE_MS) {
        quiet = 0;
        continue;
      }
      const next = ++quiet < QUIET_TURNS ? undefined : this.#next();
      if (next === undefined) {
        if (quiet > IDLE_TURNS) return false;
        continue;
      }
      if (++fired > MAX_TIMERS) return false;
      quiet = 0;
      this.#timers.delete(next);
      this.#passed = Math.max(this.#passed, next.due);
      next.run();
    }
  }

  /** Waits, without letting time pass, until nothing is under way. */
  async quiet(activity: Activity): Promise<void> {
    for (let quiet = 0, same = 0, count = activity.count; quiet < QUIET_TURNS && same < BUSY_TURNS + PATIENCE_MS;) {
      await new Promise((resolve) => (same < BUSY_TURNS ? setImmediate(resolve) : setTimeout(resolve, 1)));
      same = activity.count === count ? same + 1 : 0;
      count = activity.count;
      quiet = activity.busy ? 0 : quiet + 1;
    }
  }

  #next(): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) if (timer.owner.state === "working" && (first === undefined || timer.due < first.due)) first = timer;
    return first;
  }
}
