import {
  isDurableEventType,
  type AgentEvent,
  type EventLog,
  type LogRecord,
  type RunId,
  type SessionId,
  type TransientEvent,
} from "@keelson/protocol";
import { EVENT_BYTES } from "./event-size.ts";
import { eventOf, logSource, sourceOfChild, withPath, type EventSource } from "./event-source.ts";
import type { DeltaEvent, DeltaRun } from "./event-backlog.ts";
import { EventSubscription } from "./event-subscription.ts";

export interface EventHubOptions {
  readonly runId: RunId;
  readonly log: EventLog;
  readonly session: SessionId;
  /** Reads a record as it was written. */
  restore(record: LogRecord): Promise<LogRecord>;
  /** What a watcher may lag behind, in bytes. Default 1 MiB. */
  readonly maxBufferBytes?: number;
}

const DEFAULT_MAX_BUFFER_BYTES = 1024 * 1024;
const ENDINGS: ReadonlySet<string> = new Set(["run-suspend", "run-complete", "error"]);

/** Hands the events of one run to its watchers, and to those of the run that started it. Durable events come here after their commit only. */
export class EventHub {
  readonly runId: RunId;
  readonly #source: EventSource;
  readonly #maxBufferBytes: number;
  #subscriptions: readonly EventSubscription[] = [];
  /** Those that wait for the log to be opened, with the seq that they want to go on from. */
  readonly #early = new Map<EventSubscription, number>();
  #above: { readonly hub: EventHub; readonly name: string; readonly sources: Map<EventSource, EventSource> } | undefined;
  /** Seq of the last record before the run's first; unknown until the log is open. */
  #base: number | undefined;
  #after = 0;
  #attempt = 0;
  #n = 0;
  /** What the response under way has said so far; absent while there is none. */
  #soFar: (() => readonly TransientEvent[]) | undefined;
  /** What ends the stream was shown. */
  #over = false;
  #closed = false;

  constructor(options: EventHubOptions) {
    const { runId, log, session, restore, maxBufferBytes = DEFAULT_MAX_BUFFER_BYTES } = options;
    this.runId = runId;
    this.#source = logSource(log, session, runId, restore);
    this.#maxBufferBytes = maxBufferBytes;
  }

  /** Whether anybody watches: what only watchers see need not be made otherwise. */
  get watched(): boolean {
    return this.#subscriptions.length > 0 || this.#above?.hub.watched === true;
  }

  /** Whether watchers were shown the last event. */
  get isOver(): boolean {
    return this.#over || this.#closed;
  }

  /** A watcher from now on; with `after` it first gets what the log holds of this run behind that seq, then what the open response has said. */
  subscribe({ after }: { readonly after?: number } = {}): EventSubscription {
    const subscription = new EventSubscription({
      maxBufferBytes: this.#maxBufferBytes,
      ...(after !== undefined && { seen: after }),
      onReturn: () => {
        this.#subscriptions = this.#subscriptions.filter((other) => other !== subscription);
        this.#early.delete(subscription);
      },
    });
    if (after !== undefined) {
      if (this.#base === undefined) this.#early.set(subscription, after);
      else {
        subscription.catchUp(this.#source, Math.max(after, this.#base), this.#after);
        // Under one number, that of the last of them: what comes goes on from there.
        for (const event of this.#soFar?.() ?? []) subscription.push(this.#placed(event, this.#n));
      }
    }
    if (this.#closed) subscription.end();
    else this.#subscriptions = this.#subscriptions.concat(subscription);
    return subscription;
  }

  /**
   * The log is open: what it holds up to `head` is the past.
   * @param base seq of the last record before the run's first
   */
  opened(base: number, head: number): void {
    this.#base = base;
    this.#after = head;
    for (const [subscription, after] of this.#early) subscription.catchUp(this.#source, Math.max(after, base), head);
    this.#early.clear();
  }

  /** Shows all that happens here to the watchers of `hub` as well, as events of its child `name`. */
  forwardTo(hub: EventHub, name: string): void {
    this.#above = { hub, name, sources: new Map() };
  }

  committed(records: readonly LogRecord[]): void {
    const watched = this.watched;
    for (const record of records) {
      this.#after = record.seq;
      this.#n = 0;
      if (watched && isDurableEventType(record.type)) this.#show(eventOf(record, this.runId), this.#source);
      if (isEndOfResponse(record)) this.#soFar = undefined;
      if (ENDINGS.has(record.type)) this.#over = true;
    }
  }

  /** @param hidden the watcher that is not shown it */
  transient(event: TransientEvent, hidden?: EventSubscription): void {
    if (this.watched) this.#show(this.#placed(event, ++this.#n), undefined, hidden);
    if (event.type === "detached") this.#over = true;
  }

  delta(type: DeltaEvent["type"], text: string): void {
    this.deltas(type, [text]);
  }

  /** Deltas of one kind that came together, by their texts. Every chunk comes this way: what is done once is not done for each. */
  deltas(type: DeltaEvent["type"], texts: readonly string[]): void {
    if (!this.watched) return;
    this.#showDeltas(deltaRun(texts, type, this.runId, this.#after, this.#attempt, this.#n));
    this.#n += texts.length;
  }

  /** The events that follow belong to another attempt at the model. @param soFar what it has said when it is asked */
  nextAttempt(soFar?: () => readonly TransientEvent[]): void {
    this.#attempt++;
    this.#n = 0;
    this.#soFar = soFar;
  }

  close(): void {
    this.#closed = true;
    this.#soFar = undefined;
    this.#above = undefined;
    this.#early.clear();
    for (const subscription of this.#subscriptions) subscription.end();
    this.#subscriptions = [];
  }

  #placed(event: TransientEvent, n: number): AgentEvent {
    return { ...event, runId: this.runId, after: this.#after, attempt: this.#attempt, n } as AgentEvent;
  }

  #showDeltas(run: DeltaRun): void {
    if (this.#over) return;
    for (const subscription of this.#subscriptions) subscription.pushDeltas(run);
    if (this.#above === undefined) return;
    const { hub, name } = this.#above;
    if (hub.watched) hub.#showDeltas({ ...run, deltas: run.deltas.map((delta) => withPath(delta, name)) });
  }

  /** Nothing comes behind the event that ends the stream, from children that are told to end meanwhile neither. */
  #show(event: AgentEvent, source: EventSource | undefined, hidden?: EventSubscription): void {
    if (this.#over) return;
    for (const subscription of this.#subscriptions) if (subscription !== hidden) subscription.push(event, source);
    // That this process lost a child ends the child's stream, not that of the run above.
    if (this.#above === undefined || event.type === "detached") return;
    const { hub, name, sources } = this.#above;
    let above: EventSource | undefined;
    if (source !== undefined) {
      above = sources.get(source);
      if (above === undefined) sources.set(source, (above = sourceOfChild(source, name)));
    }
    if (hub.watched) hub.#show(withPath(event, name), above);
  }
}

/** Whether a response stands in the log from here on, or is void. */
function isEndOfResponse({ type, data }: LogRecord): boolean {
  return type === "retry" || (type === "message" && (data["message"] as { readonly role?: unknown } | undefined)?.role === "assistant");
}

/** @param before the number of the event before them */
function deltaRun(
  texts: readonly string[],
  type: DeltaEvent["type"],
  runId: RunId,
  after: number,
  attempt: number,
  before: number,
): DeltaRun {
  const deltas: DeltaEvent[] = [];
  let bytes = 0;
  let n = before;
  for (const text of texts) {
    deltas.push({ type, text, runId, after, attempt, n: ++n });
    bytes += EVENT_BYTES + text.length;
  }
  return { deltas, bytes };
}
