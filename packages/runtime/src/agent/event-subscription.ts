import type { AgentEvent } from "@keelson/protocol";

export interface EventSubscriptionOptions {
  readonly maxBufferBytes: number;
  /** Durable events after one seq, up to another, from the log. */
  reread(after: number, upTo: number): AsyncIterable<AgentEvent>;
  onReturn(): void;
}

/** An estimate is enough: the bound is there to hold memory, not to bill it. */
const EVENT_BYTES = 200;

/**
 * One watcher's queue. When it is full, neighbouring deltas are joined, then transient events are dropped (a `gap` says how
 * many), then durable events are forgotten here and read again from the log when the watcher gets there.
 */
export class EventSubscription implements AsyncIterableIterator<AgentEvent> {
  readonly #options: EventSubscriptionOptions;
  #queue: AgentEvent[] = [];
  #start = 0;
  #bytes = 0;
  #waiting: ((result: IteratorResult<AgentEvent>) => void) | undefined;
  #ended = false;
  #lastSeq = 0;
  /** What must be read from the log before the queue goes on. */
  #behind: { readonly after: number; upTo: number } | undefined;
  #rereading: AsyncIterator<AgentEvent> | undefined;

  constructor(options: EventSubscriptionOptions) {
    this.#options = options;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  push(event: AgentEvent, durable: boolean): void {
    if (this.#ended) return;
    if (durable && this.#behind !== undefined && this.#queue.length === this.#start) {
      this.#behind.upTo = seqOf(event);
      this.#wake();
      return;
    }
    if (this.#waiting !== undefined && this.#behind === undefined) {
      const resolve = this.#waiting;
      this.#waiting = undefined;
      if (durable) this.#lastSeq = seqOf(event);
      resolve({ done: false, value: event });
      return;
    }
    this.#queue.push(event);
    this.#bytes += bytesOf(event, durable);
    if (this.#bytes > this.#options.maxBufferBytes) this.#shrink();
    this.#wake();
  }

  /** Hands out what the log holds between these seqs before anything else. */
  catchUp(after: number, upTo: number): void {
    this.#lastSeq = after;
    if (upTo > after) this.#behind = { after, upTo };
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  next(): Promise<IteratorResult<AgentEvent>> {
    if (this.#behind === undefined && this.#start < this.#queue.length) return Promise.resolve({ done: false, value: this.#take() });
    return this.#next();
  }

  async #next(): Promise<IteratorResult<AgentEvent>> {
    for (;;) {
      if (this.#behind !== undefined) {
        const { after, upTo } = this.#behind;
        this.#rereading ??= this.#options.reread(after, upTo)[Symbol.asyncIterator]();
        const result = await this.#rereading.next();
        if (!result.done) {
          this.#lastSeq = seqOf(result.value);
          return result;
        }
        this.#rereading = undefined;
        this.#behind = this.#behind.upTo > upTo ? { after: upTo, upTo: this.#behind.upTo } : undefined;
        continue;
      }
      if (this.#start < this.#queue.length) return { done: false, value: this.#take() };
      if (this.#ended) return { done: true, value: undefined };
      await new Promise<void>((resolve) => {
        this.#waiting = (result) => {
          if (!result.done) this.#handOver = result;
          resolve();
        };
      });
      if (this.#handOver !== undefined) {
        const handed = this.#handOver;
        this.#handOver = undefined;
        return handed;
      }
    }
  }

  #handOver: IteratorResult<AgentEvent> | undefined;

  return(): Promise<IteratorResult<AgentEvent>> {
    this.#ended = true;
    this.#queue = [];
    this.#start = 0;
    this.#behind = undefined;
    this.#options.onReturn();
    void this.#rereading?.return?.();
    this.#wake();
    return Promise.resolve({ done: true, value: undefined });
  }

  #wake(): void {
    const resolve = this.#waiting;
    if (resolve === undefined) return;
    this.#waiting = undefined;
    resolve({ done: true, value: undefined });
  }

  #take(): AgentEvent {
    const event = this.#queue[this.#start++] as AgentEvent;
    if (isDurable(event)) this.#lastSeq = seqOf(event);
    this.#bytes -= bytesOf(event, isDurable(event));
    if (this.#start === this.#queue.length) {
      this.#queue = [];
      this.#start = 0;
      this.#bytes = 0;
    }
    return event;
  }

  #shrink(): void {
    const { maxBufferBytes } = this.#options;
    let kept = joinDeltas(this.#queue.slice(this.#start));
    this.#start = 0;
    this.#count(kept);
    if (this.#bytes > maxBufferBytes / 2) {
      let dropped = 0;
      let gap: AgentEvent | undefined;
      const rest: AgentEvent[] = [];
      for (const event of kept) {
        if (isDurable(event)) rest.push(event);
        else {
          dropped += event.type === "gap" ? event.dropped : 1;
          if (gap === undefined) {
            gap = event;
            rest.push(event);
          }
        }
      }
      kept = rest.map((event) => (event === gap ? gapFrom(event, dropped) : event));
      this.#count(kept);
    }
    if (this.#bytes > maxBufferBytes / 2) {
      const durable = kept.filter(isDurable);
      const last = durable.at(-1);
      kept = kept.filter((event) => !isDurable(event));
      if (last !== undefined) this.#behind = { after: this.#behind?.after ?? this.#lastSeq, upTo: seqOf(last) };
      this.#count(kept);
    }
    this.#queue = kept;
  }

  #count(events: readonly AgentEvent[]): void {
    this.#bytes = 0;
    for (const event of events) this.#bytes += bytesOf(event, isDurable(event));
  }
}

function joinDeltas(events: readonly AgentEvent[]): AgentEvent[] {
  const joined: AgentEvent[] = [];
  for (const event of events) {
    const last = joined.at(-1);
    if (
      (event.type === "text-delta" || event.type === "thinking-delta") &&
      last?.type === event.type &&
      last.runId === event.runId &&
      last.attempt === event.attempt &&
      last.after === event.after
    ) {
      joined[joined.length - 1] = { ...event, text: last.text + event.text };
    } else joined.push(event);
  }
  return joined;
}

function gapFrom(event: AgentEvent, dropped: number): AgentEvent {
  const { runId, after, attempt, n } = event as Extract<AgentEvent, { type: "gap" }>;
  return { type: "gap", dropped, runId, after, attempt, n };
}

function isDurable(event: AgentEvent): boolean {
  return "seq" in event && event.path === undefined;
}

function seqOf(event: AgentEvent): number {
  return (event as { readonly seq?: number }).seq ?? 0;
}

function bytesOf(event: AgentEvent, durable: boolean): number {
  if (!durable) return "text" in event && typeof event.text === "string" ? EVENT_BYTES + event.text.length : EVENT_BYTES;
  switch (event.type) {
    case "message":
    case "steer": {
      let bytes = EVENT_BYTES;
      for (const part of event.message.content)
        bytes +=
          "text" in part
            ? part.text.length
            : "inputText" in part
              ? part.inputText.length
              : "data" in part
                ? (part.data?.length ?? 0)
                : EVENT_BYTES;
      return bytes;
    }
    case "tool-result":
      return EVENT_BYTES + (typeof event.output === "string" ? event.output.length : 2048);
    case "run-complete":
    case "run-result":
      return EVENT_BYTES + event.text.length;
    default:
      return EVENT_BYTES * 2;
  }
}
