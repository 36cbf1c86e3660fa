import { sessionOf, type EventLog, type Lease, type LogRecord } from "@keelson/protocol";
import type { ProcessClock } from "./virtual-clock.ts";

/** Where a process dies: at its so-manieth append to a session's log, before or after that is kept, or at a callback. */
export interface Crash {
  readonly by: "append" | "callback";
  readonly at: number;
  readonly kept: boolean;
}

/**
 * A process that works on the stores of a story. Where it is to die it stops for good: nothing that it had begun goes on, nothing
 * is written, read or released by it any more, and its timers are gone.
 */
export class SimulatedProcess {
  readonly owner: string;
  readonly clock: ProcessClock;
  readonly log: EventLog;
  readonly died: Promise<void>;
  readonly #crash: Crash | undefined;
  #markDead: () => void = () => {};
  #isDead = false;
  #appends = 0;
  #callbacks = 0;

  constructor(parts: { readonly owner: string; readonly clock: ProcessClock; readonly log: EventLog; readonly crash: Crash | undefined }) {
    this.owner = parts.owner;
    this.clock = parts.clock;
    this.#crash = parts.crash;
    this.died = new Promise((resolve) => {
      this.#markDead = resolve;
    });
    this.log = this.#seen(parts.log);
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** A place in the code of users. @returns what never comes to pass, where the process dies there or is dead */
  pass(): Promise<never> | undefined {
    if (!this.#isDead && this.#crash?.by === "callback" && ++this.#callbacks === this.#crash.at) this.#die();
    return this.#isDead ? never() : undefined;
  }

  #die(): void {
    this.#isDead = true;
    this.clock.end();
    this.#markDead();
  }

  #seen(log: EventLog): EventLog {
    const alive = async <T>(work: () => Promise<T>): Promise<T> => {
      if (this.#isDead) await never();
      const result = await work().catch(async (error: unknown) => {
        if (this.#isDead) await never();
        throw error;
      });
      if (this.#isDead) await never();
      return result as T;
    };
    const records = (iterable: AsyncIterable<LogRecord>): AsyncIterable<LogRecord> => ({
      [Symbol.asyncIterator]: () => {
        const iterator = iterable[Symbol.asyncIterator]();
        return {
          next: () => alive(() => iterator.next()),
          return: () => alive(async () => (await iterator.return?.()) ?? { done: true, value: undefined }),
        };
      },
    });
    const lent = (lease: Lease): Lease => ({
      log: lease.log,
      epoch: lease.epoch,
      owner: lease.owner,
      tookOver: lease.tookOver,
      renew: () => alive(() => lease.renew()),
      release: () => alive(() => lease.release()),
      [Symbol.asyncDispose]: () => alive(async () => lease[Symbol.asyncDispose]()),
    });
    return {
      append: (id, expectedSeq, appended, options) =>
        alive(async () => {
          const dies = sessionOf(id) !== undefined && this.#crash?.by === "append" && ++this.#appends === this.#crash.at;
          if (dies && this.#crash?.kept !== true) this.#die();
          if (this.#isDead) return never();
          const stands = await log.append(id, expectedSeq, appended, options);
          if (dies) this.#die();
          return stands;
        }),
      read: (id, options) => records(log.read(id, options)),
      head: (id) => alive(() => log.head(id)),
      list: (options) => alive(() => log.list(options)),
      delete: (id) => alive(() => log.delete(id)),
      acquire: async (id, options) => lent(await alive(() => log.acquire(id, options))),
      [Symbol.asyncDispose]: () => alive(async () => log[Symbol.asyncDispose]()),
    };
  }
}

export function never(): Promise<never> {
  return new Promise(() => {});
}
