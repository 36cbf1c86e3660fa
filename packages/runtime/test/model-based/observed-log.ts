import { type EventLog, LogError, sessionOf, type LogId, type LogRecord, type NewRecord } from "@keelson/protocol";

export interface Observer {
  /** After each append, with the number of appends to logs of sessions so far (inboxes not counted). */
  appended(log: LogId, records: readonly NewRecord[], count: number, seq: number): void;
  /** An append to fail, by that number: before anything is written, or after all is. */
  readonly fault?: { readonly at: number; readonly done: boolean } | undefined;
}

export interface ObservedLog extends EventLog {
  /** Readers that follow and were not ended. */
  readonly following: number;
}

/** How many appends to logs of sessions there were, by all processes. */
export interface Appends {
  count: number;
}

/** The log, with eyes on its appends and its readers, and a fault on order. */
export function observedLog(log: EventLog, appends: Appends, observer: Observer): ObservedLog {
  let following = 0;
  return {
    get following() {
      return following;
    },
    async append(id, expectedSeq, records, options) {
      if (sessionOf(id) === undefined) return log.append(id, expectedSeq, records, options);
      const count = ++appends.count;
      const fails = observer.fault?.at === count;
      if (fails && !observer.fault?.done) throw new LogError({ kind: "unavailable", message: "the disk is away" });
      const appended = await log.append(id, expectedSeq, records, options);
      observer.appended(id, records, count, appended.seq);
      if (fails) throw new LogError({ kind: "unavailable", message: "the answer was lost" });
      return appended;
    },
    read: (id, options) => (options?.follow ? counted(log.read(id, options)) : log.read(id, options)),
    head: (id) => log.head(id),
    list: (options) => log.list(options),
    delete: (id) => log.delete(id),
    acquire: (id, options) => log.acquire(id, options),
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
  };

  async function* counted(records: AsyncIterable<LogRecord>): AsyncGenerator<LogRecord> {
    following++;
    try {
      yield* records;
    } finally {
      following--;
    }
  }
}
