import {
  isDurableEventType,
  LogError,
  sessionLog,
  type AgentError,
  type AgentEvent,
  type EventLog,
  type LogId,
  type LogRecord,
  type RunId,
  type SessionId,
} from "@keelson/protocol";
import { agentErrorOf } from "../../../session/log-failure.ts";
import { shownEvent } from "../../../session/shown-event.ts";

/** Where the durable events of one run stand: what a watcher had no room for is read here again. */
export interface EventSource {
  /** Records after `after`, as far as the log goes now. */
  read(after: number): AsyncIterable<LogRecord>;
  /** The event that a record is; `undefined` when watchers of this run do not see it. */
  eventOf(record: LogRecord): Promise<AgentEvent> | undefined;
  /** Why a watcher cannot go on: the log ends before `upTo`. */
  missing(after: number, upTo: number): LogError;
  /** What a watcher is told when reading failed so. */
  failureOf(error: unknown): AgentError;
}

/** The log of a run. @param restore reads a record as it was written */
export function logSource(
  log: EventLog,
  session: SessionId,
  runId: RunId,
  restore: (record: LogRecord) => Promise<LogRecord>,
): EventSource {
  return new LogSource(log, session, runId, restore);
}

class LogSource implements EventSource {
  readonly #log: EventLog;
  readonly #session: SessionId;
  readonly #id: LogId;
  readonly #runId: RunId;
  readonly #restore: (record: LogRecord) => Promise<LogRecord>;

  constructor(log: EventLog, session: SessionId, runId: RunId, restore: (record: LogRecord) => Promise<LogRecord>) {
    this.#log = log;
    this.#session = session;
    this.#id = sessionLog(session);
    this.#runId = runId;
    this.#restore = restore;
  }

  read(after: number): AsyncIterable<LogRecord> {
    return this.#log.read(this.#id, { after });
  }

  eventOf(record: LogRecord): Promise<AgentEvent> | undefined {
    if (!isDurableEventType(record.type) || !record.key.startsWith(`${this.#runId}/`)) return undefined;
    return this.#restore(record).then((whole) => eventOf(whole, this.#runId));
  }

  missing(after: number, upTo: number): LogError {
    return new LogError({
      kind: "not-found",
      log: this.#id,
      message: `The events of run ${this.#runId} after ${after} and up to ${upTo} are no longer in its log "${this.#id}": the session was deleted before this watcher got there.`,
    });
  }

  failureOf(error: unknown): AgentError {
    return agentErrorOf(this.#session, error);
  }
}

/** The same events, as the watchers of the run that started it see them. */
export function sourceOfChild(source: EventSource, name: string): EventSource {
  return {
    read: (after) => source.read(after),
    eventOf: (record) => source.eventOf(record)?.then((event) => withPath(event, name)),
    missing: (after, upTo) => source.missing(after, upTo),
    failureOf: (error) => source.failureOf(error),
  };
}

/** The event that a record is. */
export function eventOf(record: LogRecord, runId: RunId): AgentEvent {
  const { type, data } = shownEvent(record);
  return { ...data, type, seq: record.seq, at: record.at, runId } as AgentEvent;
}

/** An event of a child, with the way that leads to it. */
export function withPath<E extends AgentEvent>(event: E, name: string): E {
  return { ...event, path: [name, ...(event.path ?? [])] };
}
