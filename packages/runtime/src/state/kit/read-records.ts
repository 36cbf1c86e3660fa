import { LogError, type LogRecord } from "@keelson/protocol";

/** Where an iterator gets its records from. Both members may throw `LogError`, which ends the iteration. */
export interface RecordSource {
  /** The next records after `after`, at least one if there is any now. Each call gives objects of its own. */
  page(after: number): readonly LogRecord[];
  /** Calls `wake` whenever there may be more, until the returned function is called. */
  listen(wake: () => void): () => void;
}

export interface ReadOptions {
  readonly after?: number;
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
}

/** Reads a log page by page; with `follow` it waits for more. It holds nothing while nobody waits on it. */
export function readRecords(source: RecordSource, options: ReadOptions): AsyncIterable<LogRecord> {
  const begin = (): RecordIterator => new RecordIterator(source, options);
  return { [Symbol.asyncIterator]: begin };
}

type Waiter = PromiseWithResolvers<IteratorResult<LogRecord, undefined>>;

/** After so many records in a row the event loop gets a turn, so that opening a long session starves nobody. */
const RECORDS_PER_TURN = 512;
const NO_RECORDS: readonly LogRecord[] = [];

class RecordIterator implements AsyncIterator<LogRecord, undefined> {
  readonly #source: RecordSource;
  readonly #follow: boolean;
  readonly #signal: AbortSignal | undefined;
  /** Absent where nobody waits. */
  #waiters: Waiter[] | undefined;
  #page = NO_RECORDS;
  #index = 0;
  #after: number;
  #sinceTurn = 0;
  #ended = false;
  #stopListening: (() => void) | undefined;
  #wakePending = false;

  constructor(source: RecordSource, { after = 0, follow = false, signal }: ReadOptions) {
    this.#source = source;
    this.#after = after;
    this.#follow = follow;
    this.#signal = signal;
  }

  next(): Promise<IteratorResult<LogRecord, undefined>> {
    const waiter: Waiter = Promise.withResolvers();
    if (this.#waiters !== undefined) this.#waiters.push(waiter);
    else {
      this.#waiters = [waiter];
      if (++this.#sinceTurn > RECORDS_PER_TURN) {
        this.#sinceTurn = 0;
        setImmediate(() => this.#serve());
      } else this.#serve();
    }
    return waiter.promise;
  }

  return(): Promise<IteratorResult<LogRecord, undefined>> {
    this.#end();
    return Promise.resolve({ done: true, value: undefined });
  }

  #serve(): void {
    while (this.#waiters !== undefined) {
      let record: LogRecord | undefined;
      try {
        record = this.#take();
      } catch (error) {
        this.#fail(error);
        return;
      }
      if (record === undefined) {
        if (this.#ended || !this.#follow) this.#end();
        return;
      }
      this.#takeWaiter()?.resolve({ done: false, value: record });
    }
    this.#rest();
  }

  #takeWaiter(): Waiter | undefined {
    const waiter = this.#waiters?.shift();
    if (this.#waiters?.length === 0) this.#waiters = undefined;
    return waiter;
  }

  /** The next record, or undefined when there is none now. Listens from then on, and looks once more after it began to. */
  #take(): LogRecord | undefined {
    if (this.#ended) return undefined;
    if (this.#signal?.aborted) {
      if (!this.#follow) throw this.#signal.reason;
      this.#ended = true;
      return undefined;
    }
    if (this.#index >= this.#page.length) {
      this.#load();
      if (this.#page.length === 0 && this.#follow && this.#stopListening === undefined) {
        this.#listen();
        this.#load();
      }
    }
    const record = this.#page[this.#index++];
    if (record !== undefined) this.#after = record.seq;
    return record;
  }

  #load(): void {
    assertAfter(this.#after);
    this.#page = this.#source.page(this.#after);
    this.#index = 0;
  }

  #listen(): void {
    this.#stopListening = this.#source.listen(this.#wake);
    this.#signal?.addEventListener("abort", this.#wake);
  }

  /** Writers wake readers; what readers then do is not on the writer's stack, and several wakes are one look. */
  readonly #wake = (): void => {
    if (this.#wakePending) return;
    this.#wakePending = true;
    queueMicrotask(() => {
      this.#wakePending = false;
      this.#serve();
    });
  };

  #rest(): void {
    if (this.#stopListening === undefined) return;
    this.#stopListening();
    this.#stopListening = undefined;
    this.#signal?.removeEventListener("abort", this.#wake);
  }

  #end(): void {
    this.#ended = true;
    this.#page = NO_RECORDS;
    this.#rest();
    const waiters = this.#waiters ?? [];
    this.#waiters = undefined;
    for (const waiter of waiters) waiter.resolve({ done: true, value: undefined });
  }

  #fail(error: unknown): void {
    const first = this.#takeWaiter();
    this.#end();
    first?.reject(error);
  }
}

/** @throws LogError `invalid-input` unless `after` is a whole number from 0. */
function assertAfter(after: number): void {
  if (Number.isSafeInteger(after) && after >= 0) return;
  throw new LogError({ kind: "invalid-input", message: `"after" must be the seq of a record, or 0; it is ${String(after)}.` });
}
