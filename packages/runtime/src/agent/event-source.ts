import {
  isDurableEventType,
  LogError,
  type AgentEvent,
  type DurableEvent,
  type EventLog,
  type LogId,
  type LogRecord,
  type RunId,
} from "@keelson/protocol";

/** Where the durable events of one run stand: what a watcher had no room for is read here again. */
export interface EventSource {
  /** Records after `after`, as far as the log goes now. */
  read(after: number): AsyncIterable<LogRecord>;
  /** The event that a record is; `undefined` when watchers of this run do not see it. */
  eventOf(record: LogRecord): Promise<AgentEvent> | undefined;
  /** Why a watcher cannot go on: the log ends before `upTo`. */
  missing(after: number, upTo: number): LogError;
}

/** The log of a run. @param restore reads a record as it was written */
export function logSource(log: EventLog, logId: LogId, runId: RunId, restore: (record: LogRecord) => Promise<LogRecord>): EventSource {
  const prefix = `${runId}/`;
  return {
    read: (after) => log.read(logId, { after }),
    eventOf(record) {
      if (!isDurableEventType(record.type) || !record.key.startsWith(prefix)) return undefined;
      return restore(record).then((whole) => eventOf(whole, runId));
    },
    missing: (after, upTo) =>
      new LogError({
        kind: "not-found",
        log: logId,
        message: `The events of run ${runId} after ${after} and up to ${upTo} are no longer in its log "${logId}": the session was deleted before this watcher got there.`,
      }),
  };
}

/** The same events, as the watchers of the run that started it see them. */
export function sourceOfChild(source: EventSource, name: string): EventSource {
  return {
    read: (after) => source.read(after),
    eventOf: (record) => source.eventOf(record)?.then((event) => withPath(event, name)),
    missing: (after, upTo) => source.missing(after, upTo),
  };
}

/** The event that a record is. */
export function eventOf(record: LogRecord, runId: RunId): AgentEvent {
  return { ...record.data, type: record.type as DurableEvent["type"], seq: record.seq, at: record.at, runId } as unknown as AgentEvent;
}

/** An event of a child, with the way that leads to it. */
export function withPath(event: AgentEvent, name: string): AgentEvent {
  return { ...event, path: [name, ...(event.path ?? [])] } as AgentEvent;
}
