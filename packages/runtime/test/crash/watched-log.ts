import type { EventLog, LogId, NewRecord } from "@keelson/protocol";

export interface LogWatch {
  /** What is appended instead, before the log sees it. */
  readonly rewrite?: (log: LogId, records: readonly NewRecord[]) => readonly NewRecord[];
  readonly before?: (log: LogId, records: readonly NewRecord[]) => void | Promise<void>;
  readonly after?: (log: LogId, records: readonly NewRecord[], seq: number) => void | Promise<void>;
}

/** The log with eyes on its appends. */
export function watchedLog(log: EventLog, watch: LogWatch): EventLog {
  return {
    async append(id, expectedSeq, given, options) {
      const records = watch.rewrite?.(id, given) ?? given;
      await watch.before?.(id, records);
      const appended = await log.append(id, expectedSeq, records, options);
      await watch.after?.(id, records, appended.seq);
      return appended;
    },
    read: (id, options) => log.read(id, options),
    head: (id) => log.head(id),
    list: (options) => log.list(options),
    delete: (id) => log.delete(id),
    acquire: (id, options) => log.acquire(id, options),
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
  };
}
