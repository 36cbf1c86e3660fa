import {
  isDurableEventType,
  type AgentEvent,
  type DurableEvent,
  type EventLog,
  type LogId,
  type LogRecord,
  type RunId,
  type TransientEvent,
} from "@keelson/protocol";
import { EventSubscription } from "./event-subscription.ts";

export interface EventHubOptions {
  readonly runId: RunId;
  readonly log: EventLog;
  readonly logId: LogId;
  /** Reads a record as it was written. */
  restore(record: LogRecord): Promise<LogRecord>;
  /** What a watcher may lag behind, in bytes. Default 1 MiB. */
  readonly maxBufferBytes?: number;
}

/** Hands the events of one run to its watchers. Durable events come here after their commit only. */
export class EventHub {
  readonly runId: RunId;
  readonly #options: EventHubOptions;
  readonly #subscriptions = new Set<EventSubscription>();
  #after = 0;
  #attempt = 0;
  #n = 0;
  #closed = false;

  constructor(options: EventHubOptions) {
    this.#options = options;
    this.runId = options.runId;
  }

  /** Whether anybody watches: what only watchers see need not be made otherwise. */
  get watched(): boolean {
    return this.#subscriptions.size > 0;
  }

  /**
   * A watcher from now on; with `after` it first gets what the log holds behind that seq.
   * Reads from the first record of the run when `after` is smaller than that.
   */
  subscribe(options: { readonly after?: number } = {}): EventSubscription {
    const { log, logId, restore, maxBufferBytes } = this.#options;
    const subscription = new EventSubscription({
      maxBufferBytes: maxBufferBytes ?? 1024 * 1024,
      reread: (after, upTo) => eventsBetween(log, logId, this.runId, after, upTo, restore),
      onReturn: () => this.#subscriptions.delete(subscription),
    });
    if (options.after !== undefined) subscription.catchUp(options.after, this.#after);
    if (this.#closed) subscription.end();
    else this.#subscriptions.add(subscription);
    return subscription;
  }

  committed(records: readonly LogRecord[]): void {
    for (const record of records) {
      this.#after = record.seq;
      this.#n = 0;
      if (this.#subscriptions.size === 0 || !isDurableEventType(record.type)) continue;
      const event = eventOf(record, this.runId);
      for (const subscription of this.#subscriptions) subscription.push(event, true);
    }
  }

  transient(event: TransientEvent): void {
    if (this.#subscriptions.size === 0) return;
    const placed = { ...event, runId: this.runId, after: this.#after, attempt: this.#attempt, n: ++this.#n } as AgentEvent;
    for (const subscription of this.#subscriptions) subscription.push(placed, false);
  }

  /** The text of a delta, without an intermediate object: this is the path of every chunk. */
  delta(type: "text-delta" | "thinking-delta", text: string): void {
    if (this.#subscriptions.size === 0) return;
    const event: AgentEvent = { type, text, runId: this.runId, after: this.#after, attempt: this.#attempt, n: ++this.#n };
    for (const subscription of this.#subscriptions) subscription.push(event, false);
  }

  /** An event of a child, with `path` and the child's own position. The run's own log cannot bring it back: a slow watcher may lose it. */
  forward(event: AgentEvent): void {
    for (const subscription of this.#subscriptions) subscription.push(event, false);
  }

  /** The events that follow belong to another attempt at the model. */
  nextAttempt(): void {
    this.#attempt++;
    this.#n = 0;
  }

  close(): void {
    this.#closed = true;
    for (const subscription of this.#subscriptions) subscription.end();
    this.#subscriptions.clear();
  }
}

/** The event that a record is. */
export function eventOf(record: LogRecord, runId: RunId): AgentEvent {
  return { ...record.data, type: record.type as DurableEvent["type"], seq: record.seq, at: record.at, runId } as unknown as AgentEvent;
}

/** The durable events of a run that stand in its log after `after`, up to `upTo`. */
export async function* eventsBetween(
  log: EventLog,
  logId: LogId,
  runId: RunId,
  after: number,
  upTo: number,
  restore: (record: LogRecord) => Promise<LogRecord>,
): AsyncGenerator<AgentEvent> {
  if (after >= upTo) return;
  const prefix = `${runId}/`;
  for await (const record of log.read(logId, { after })) {
    if (record.seq > upTo) return;
    if (isDurableEventType(record.type) && record.key.startsWith(prefix)) yield eventOf(await restore(record), runId);
    if (record.seq === upTo) return;
  }
}
