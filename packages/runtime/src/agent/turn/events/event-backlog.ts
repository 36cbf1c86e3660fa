import type { AgentEvent } from "@keelson/protocol";
import type { EventSource } from "./event-source.ts";
import { sizeOfEvent } from "./event-size.ts";

/** What a chunk of a response is for watchers. */
export type DeltaEvent = Extract<AgentEvent, { readonly type: "text-delta" | "thinking-delta" }>;

/** One event that waits for its watcher, or deltas that came together. Of one shape, since every chunk passes here. */
interface HeldEvents {
  readonly events: readonly AgentEvent[];
  /** Those before it are gone. */
  taken: number;
  /** Where they can be read again; absent for transient events. */
  readonly source: EventSource | undefined;
  readonly bytes: number;
}

/** Durable events that wait in their log: those after `after`, up to `upTo`. Both move while it is read. */
export interface HeldRange {
  readonly source: EventSource;
  after: number;
  upTo: number;
}

/** Deltas that came together. */
export interface DeltaRun {
  readonly deltas: readonly DeltaEvent[];
  /** What they take, as `sizeOfEvent` counts it. */
  readonly bytes: number;
}

/** An event by itself, where room is made. */
interface HeldEvent {
  readonly event: AgentEvent;
  readonly source: EventSource | undefined;
  readonly bytes: number;
}

type Held = HeldEvents | HeldRange;
type HeldSingly = HeldEvent | HeldRange;

const RANGE_BYTES = 100;
/** So many places of what was taken may stay: a watcher that never catches up completely must not make it grow. */
const MOST_TAKEN = 256;

/**
 * What one watcher has still to get, oldest first, in bounded memory. When it is full, neighbouring deltas are joined; then
 * transient events are dropped, and one `gap` says how many; then durable events are forgotten, and a range of their log
 * stands for them. Of each log, events keep their order; only where many logs take turns do later events of a log move up
 * to its first range.
 */
export class EventBacklog {
  readonly #maxBytes: number;
  #held: Held[] = [];
  /** How many of `#held` were taken. */
  #taken = 0;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** What it holds in memory, about. */
  get bytes(): number {
    return this.#bytes;
  }

  push(event: AgentEvent, source: EventSource | undefined): void {
    const bytes = sizeOfEvent(event);
    this.#held.push({ events: [event], taken: 0, source, bytes });
    this.#bytes += bytes;
    if (this.#bytes > this.#maxBytes) this.#shrink();
  }

  /** As `push` with each of these from `first` on. They are kept as one until room is short, and what they take is counted until the last is taken. */
  pushDeltas({ deltas, bytes }: DeltaRun, first: number): void {
    this.#held.push({ events: deltas, taken: first, source: undefined, bytes });
    this.#bytes += bytes;
    if (this.#bytes > this.#maxBytes) this.#shrink();
  }

  /** Durable events that are to be read from their log. */
  pushRange(source: EventSource, after: number, upTo: number): void {
    if (upTo <= after) return;
    this.#held.push({ source, after, upTo });
    this.#bytes += RANGE_BYTES;
  }

  /** The oldest, where it is to be read from its log. */
  peekRange(): HeldRange | undefined {
    const held = this.#held[this.#taken];
    return held !== undefined && "upTo" in held ? held : undefined;
  }

  /** Takes the oldest, where it is an event. */
  take(): AgentEvent | undefined {
    // Also spares the look at a list that is still empty, which is of another kind for the engine.
    if (this.#bytes === 0) return undefined;
    const held = this.#held[this.#taken];
    if (held === undefined || "upTo" in held) return undefined;
    const event = held.events[held.taken++];
    if (held.taken < held.events.length) return event;
    this.#bytes -= held.bytes;
    if (++this.#taken === this.#held.length) {
      this.#held.length = 0;
      this.#taken = 0;
    } else if (this.#taken === MOST_TAKEN) {
      this.#held = this.#held.slice(MOST_TAKEN);
      this.#taken = 0;
    }
    return event;
  }

  /** Drops a range that was read to its end. What was dropped meanwhile may stand before it by now. */
  finish(range: HeldRange): void {
    const index = this.#held.indexOf(range, this.#taken);
    if (index < 0) return;
    this.#held.splice(index, 1);
    this.#bytes -= RANGE_BYTES;
  }

  clear(): void {
    this.#held = [];
    this.#taken = 0;
    this.#bytes = 0;
  }

  #shrink(): void {
    const enough = this.#maxBytes / 2;
    let held = this.#replace(joinDeltas(eachEvent(this.#held.slice(this.#taken))));
    if (this.#bytes > enough) held = this.#replace(withoutTransients(held));
    if (this.#bytes > enough) held = this.#replace(withoutDurables(held));
    if (this.#bytes > enough) this.#replace(oneRangeEach(held));
  }

  #replace(held: HeldSingly[]): HeldSingly[] {
    this.#held = held.map((one) => ("event" in one ? { events: [one.event], taken: 0, source: one.source, bytes: one.bytes } : one));
    this.#taken = 0;
    this.#bytes = 0;
    for (const one of held) this.#bytes += "event" in one ? one.bytes : RANGE_BYTES;
    return held;
  }
}

/** Leaves a gap where the first was dropped. What ends a stream stays. */
function withoutTransients(all: readonly HeldSingly[]): HeldSingly[] {
  const kept: HeldSingly[] = [];
  let dropped = 0;
  let at = -1;
  let first: TransientEventShown | undefined;
  for (const held of all) {
    if (!("event" in held) || held.source !== undefined || held.event.type === "detached") {
      kept.push(held);
      continue;
    }
    const event = held.event as TransientEventShown;
    dropped += event.type === "gap" ? event.dropped : 1;
    if (at < 0) at = kept.length;
    // A gap belongs to the run as soon as it hides something of its own.
    if (first === undefined || (first.path !== undefined && event.path === undefined)) first = event;
  }
  if (first !== undefined) {
    const { runId, path, after, attempt, n } = first;
    const gap: AgentEvent = { type: "gap", dropped, runId, ...(path && { path }), after, attempt, n };
    kept.splice(at, 0, { event: gap, source: undefined, bytes: sizeOfEvent(gap) });
  }
  return kept;
}

/** Each event for itself. */
function eachEvent(held: readonly Held[]): HeldSingly[] {
  return held.flatMap((one): HeldSingly | HeldSingly[] =>
    "upTo" in one ? one : one.events.slice(one.taken).map((event) => ({ event, source: one.source, bytes: sizeOfEvent(event) })),
  );
}

/** Neighbouring deltas of one segment of a response become one. */
function joinDeltas(held: readonly HeldSingly[]): HeldSingly[] {
  const joined: HeldSingly[] = [];
  let texts: string[] = [];
  const close = (): void => {
    if (texts.length > 1) {
      // Not by concatenation, which would keep every piece alive.
      const event = { ...(joined.pop() as HeldDelta).event, text: texts.join("") };
      joined.push({ event, source: undefined, bytes: sizeOfEvent(event) });
    }
    texts = [];
  };
  for (const one of held) {
    const last = joined.at(-1);
    if (!isDelta(one)) close();
    else {
      if (last !== undefined && isDelta(last) && continues(last, one)) joined.pop();
      else close();
      texts.push(one.event.text);
    }
    joined.push(one);
  }
  close();
  return joined;
}

type TransientEventShown = Extract<AgentEvent, { readonly after: number }>;
type HeldDelta = HeldEvent & { readonly event: DeltaEvent };

function isDelta(held: HeldSingly): held is HeldDelta {
  return "event" in held && (held.event.type === "text-delta" || held.event.type === "thinking-delta");
}

function continues(last: HeldDelta, next: HeldDelta): boolean {
  const { type, runId, after, attempt } = last.event;
  return next.event.type === type && next.event.runId === runId && next.event.after === after && next.event.attempt === attempt;
}

/** Ranges of their logs in the place of durable events. */
function withoutDurables(held: readonly HeldSingly[]): HeldSingly[] {
  const kept: HeldSingly[] = [];
  for (const one of held) {
    if ("event" in one && one.source === undefined) kept.push(one);
    else {
      const range: HeldRange =
        "event" in one ? { source: one.source as EventSource, after: seqOf(one.event) - 1, upTo: seqOf(one.event) } : one;
      const last = kept.at(-1);
      // The earlier one goes on, since it may be the one that is read at the moment.
      if (last !== undefined && !("event" in last) && last.source === range.source) last.upTo = range.upTo;
      else kept.push(range);
    }
  }
  return kept;
}

/**
 * Of each log one range, where its first one stood: an event of a child still comes after the event that started it. What
 * came last stays last, and the gap goes before them all, since nothing may come after what ends a stream.
 */
function oneRangeEach(held: readonly HeldSingly[]): HeldSingly[] {
  const ranges: HeldRange[] = [];
  const first = new Map<EventSource, HeldRange>();
  const newest = held.findLast((one): one is HeldRange => !("event" in one));
  const passing: HeldEvent[] = [];
  for (const one of held) {
    if ("event" in one) {
      passing.push(one);
      continue;
    }
    const earlier = one === newest && ranges.at(-1)?.source !== one.source ? undefined : first.get(one.source);
    if (earlier !== undefined) earlier.upTo = one.upTo;
    else {
      ranges.push(one);
      first.set(one.source, one);
    }
  }
  const isLast = ({ event }: HeldEvent): boolean => event.type === "detached";
  return [...passing.filter((one) => !isLast(one)), ...ranges, ...passing.filter(isLast)];
}

function seqOf(event: AgentEvent): number {
  return (event as { readonly seq?: number }).seq ?? 0;
}
