import { LogError, type LogRecord } from "@keelson/protocol";

/** Where a reader gets its records from. Both members may throw `LogError`, which ends the reading. */
export interface RecordSource {
  /** The next records after `after`, at least one if there is any now. Each call gives objects of its own. */
  page(after: number): Promise<readonly LogRecord[]>;
  /** Calls `wake` whenever there may be more, until the returned function is called. */
  listen(wake: () => void): () => void;
}

export interface ReadOptions {
  /** Default 0. */
  readonly after?: number | undefined;
  readonly follow?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Reads a log page by page; with `follow` it waits for more. It holds nothing while nobody waits on it. */
export function readRecords(source: RecordSource, options: ReadOptions = {}): AsyncIterable<LogRecord> {
  return { [Symbol.asyncIterator]: () => createReader(source, options) };
}

/** When the log took the record that stands there; 0 where it holds none. */
export async function timeAt(source: RecordSource, seq: number): Promise<number> {
  return (await source.page(seq - 1))[0]?.at ?? 0;
}

/** After so many records in a row the event loop gets a turn, so that opening a long session starves nobody. */
const RECORDS_PER_TURN = 256;

function createReader(source: RecordSource, options: ReadOptions): AsyncIterator<LogRecord, undefined> {
  const wait = createWait(source, options.signal);
  const records = readAll(source, options, wait);
  return {
    next: () => records.next(),
    async return() {
      // A call of `next` that waits is over first.
      wait.leave();
      return records.return(undefined);
    },
  };
}

async function* readAll(
  source: RecordSource,
  { after = 0, follow = false, signal }: ReadOptions,
  wait: Wait,
): AsyncGenerator<LogRecord, undefined> {
  if (!Number.isSafeInteger(after) || after < 0)
    throw new LogError({ kind: "invalid-input", message: `"after" must be the seq of a record, or 0; it is ${String(after)}.` });
  let last = after;
  let given = 0;
  try {
    while (goesOn()) {
      let page = await source.page(last);
      if (page.length === 0 && !follow) return;
      if (page.length === 0) {
        wait.listen();
        // What came before it listened wakes nobody: it looks once more before it waits.
        for (page = await source.page(last); page.length === 0; page = await source.page(last)) {
          if (!goesOn()) return;
          await wait.news();
          if (!goesOn()) return;
        }
        wait.rest();
      }
      for (const record of page) {
        if (!goesOn()) return;
        if (++given % RECORDS_PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
        last = record.seq;
        yield record;
      }
    }
  } finally {
    wait.rest();
  }

  /** A signal ends a follower; else it throws, since a part must not pass for the whole. */
  function goesOn(): boolean {
    if (wait.hasLeft()) return false;
    if (signal?.aborted !== true) return true;
    if (!follow) throw signal.reason;
    return false;
  }
}

interface Wait {
  /** Takes note of news from now on. */
  listen(): void;
  /** Resolves when there may be news since it was last asked. */
  news(): Promise<void>;
  rest(): void;
  /** The reader leaves: whoever waits for news goes on. */
  leave(): void;
  hasLeft(): boolean;
}

function createWait(source: RecordSource, signal: AbortSignal | undefined): Wait {
  let left = false;
  let isNew = false;
  let wakeWaiter: (() => void) | undefined;
  let stopListening: (() => void) | undefined;
  const wake = (): void => {
    isNew = true;
    wakeWaiter?.();
  };
  return {
    listen() {
      isNew = false;
      stopListening = source.listen(wake);
      signal?.addEventListener("abort", wake);
    },
    async news() {
      if (!isNew && !left) await new Promise<void>((resolve) => (wakeWaiter = resolve));
      wakeWaiter = undefined;
      isNew = false;
    },
    rest() {
      stopListening?.();
      stopListening = undefined;
      signal?.removeEventListener("abort", wake);
    },
    leave() {
      left = true;
      wake();
    },
    hasLeft: () => left,
  };
}
