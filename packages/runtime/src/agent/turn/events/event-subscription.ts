import type { AgentEvent, LogRecord } from "@keelson/protocol";
import { type DeltaEvent, type DeltaRun, EventBacklog, type HeldRange } from "./event-backlog.ts";
import type { EventSource } from "./event-source.ts";

export interface EventSubscriptionOptions {
  /** What the watcher may lag behind before it loses transient events and reads durable ones from the log. */
  readonly maxBufferBytes: number;
  /** Seq of the run's log up to which the watcher has seen its events. Default 0. */
  readonly seen?: number;
  /** The watcher left, or can't go on. */
  onReturn(): void;
}

interface Waiter {
  resolve(result: IteratorResult<AgentEvent, undefined>): void;
  reject(reason: unknown): void;
}

const OVER: IteratorResult<AgentEvent, undefined> = { done: true, value: undefined };

/**
 * One watcher: hands out what is pushed, in order, and keeps what it is too slow for in a bounded backlog. Rejects when
 * events that it has to read again can't be read, and is over then.
 */
export class EventSubscription implements AsyncIterableIterator<AgentEvent, undefined> {
  readonly #options: EventSubscriptionOptions;
  readonly #backlog: EventBacklog;
  /** Absent where nobody waits. */
  #waiters: Waiter[] | undefined;
  readonly #seen: number;
  #ended = false;
  #left = false;
  /** A range is being read: what comes meanwhile waits behind it. */
  #reading = false;
  #records: { readonly of: HeldRange; readonly iterator: AsyncIterator<LogRecord> } | undefined;

  constructor(options: EventSubscriptionOptions) {
    this.#options = options;
    this.#seen = options.seen ?? 0;
    this.#backlog = new EventBacklog(options.maxBufferBytes);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** What it holds in memory, about. */
  get bytes(): number {
    return this.#backlog.bytes;
  }

  /** @param source where a durable event can be read again; absent for a transient one */
  push(event: AgentEvent, source?: EventSource): void {
    if (this.#ended || (source !== undefined && event.path === undefined && (event as { readonly seq: number }).seq <= this.#seen)) return;
    // Who waits has taken all there was, unless that is being read.
    if (this.#waiters === undefined || this.#reading) this.#backlog.push(event, source);
    else this.#takeWaiter()?.resolve({ done: false, value: event });
  }

  /** As `push` with each of these. */
  pushDeltas(run: DeltaRun): void {
    if (this.#ended) return;
    const { deltas } = run;
    let taken = 0;
    while (taken < deltas.length && !this.#reading && this.#waiters !== undefined)
      this.#takeWaiter()?.resolve({ done: false, value: deltas[taken++] as DeltaEvent });
    if (taken < deltas.length) this.#backlog.pushDeltas(run, taken);
  }

  /** Hands out what the log holds between these seqs before what is pushed from now on. */
  catchUp(source: EventSource, after: number, upTo: number): void {
    if (this.#ended) return;
    this.#backlog.pushRange(source, after, upTo);
    this.#serve();
  }

  /** Nothing more comes: the watcher gets what is held, then the end. */
  end(): void {
    this.#ended = true;
    this.#serve();
  }

  next(): Promise<IteratorResult<AgentEvent, undefined>> {
    // What is there already needs nobody who waits for it.
    const event = this.#reading || this.#waiters !== undefined ? undefined : this.#backlog.take();
    return event === undefined ? this.#wait() : Promise.resolve({ done: false, value: event });
  }

  return(): Promise<IteratorResult<AgentEvent, undefined>> {
    this.#leave();
    this.#serve();
    return Promise.resolve(OVER);
  }

  #wait(): Promise<IteratorResult<AgentEvent, undefined>> {
    const waiter = Promise.withResolvers<IteratorResult<AgentEvent, undefined>>();
    if (this.#waiters === undefined) this.#waiters = [waiter];
    else this.#waiters.push(waiter);
    this.#serve();
    return waiter.promise;
  }

  #takeWaiter(): Waiter | undefined {
    const waiter = this.#waiters?.shift();
    if (this.#waiters?.length === 0) this.#waiters = undefined;
    return waiter;
  }

  #serve(): void {
    while (this.#waiters !== undefined && !this.#reading) {
      const event = this.#backlog.take();
      if (event !== undefined) {
        this.#takeWaiter()?.resolve({ done: false, value: event });
        continue;
      }
      const range = this.#backlog.peekRange();
      if (range === undefined) {
        if (!this.#ended) return;
        const waiters = this.#waiters;
        this.#waiters = undefined;
        for (const waiter of waiters) waiter.resolve(OVER);
      } else {
        this.#reading = true;
        this.#read(range).then(
          (event) => {
            this.#reading = false;
            if (event !== undefined) this.#takeWaiter()?.resolve({ done: false, value: event });
            this.#serve();
          },
          (error: unknown) => {
            this.#reading = false;
            this.#leave();
            this.#takeWaiter()?.reject(range.source.failureOf(error));
            this.#serve();
          },
        );
      }
    }
  }

  /** The next event of a range, or nothing once it was read, or the watcher left. */
  async #read(range: HeldRange): Promise<AgentEvent | undefined> {
    while (range.after < range.upTo) {
      const fresh = this.#records?.of !== range;
      if (fresh) this.#records = { of: range, iterator: range.source.read(range.after)[Symbol.asyncIterator]() };
      const result = await (this.#records as { readonly iterator: AsyncIterator<LogRecord> }).iterator.next();
      if (this.#left) return undefined;
      if (result.done) {
        // The range may have grown since this reading began; a fresh one finds all of it, or it is not there.
        this.#records = undefined;
        if (fresh) throw range.source.missing(range.after, range.upTo);
        continue;
      }
      const record = result.value;
      range.after = record.seq;
      const event = await range.source.eventOf(record);
      if (this.#left) return undefined;
      if (event !== undefined) return event;
    }
    this.#backlog.finish(range);
    this.#stopReading();
    return undefined;
  }

  #leave(): void {
    this.#options.onReturn();
    this.#ended = true;
    this.#left = true;
    this.#backlog.clear();
    this.#stopReading();
  }

  #stopReading(): void {
    const records = this.#records;
    this.#records = undefined;
    // Nobody waits for what it says any more.
    records?.iterator.return?.().then(undefined, () => {});
  }
}
