import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import {
  AgentError,
  LogError,
  sessionLog,
  type AgentEvent,
  type EventLog,
  type LogId,
  type NewRecord,
  type RunId,
  type SessionId,
} from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { createMemoryEventLog } from "../../../state/memory/memory-event-log.ts";
import type { DeltaEvent } from "./event-backlog.ts";
import { sizeOfEvent } from "./event-size.ts";
import { eventOf, logSource, sourceOfChild, withPath, type EventSource } from "./event-source.ts";
import { EventSubscription } from "./event-subscription.ts";

const OWN = "r_own" as RunId;
const SESSION = "own" as SessionId;
const LOG = sessionLog(SESSION);

/** A log whose events are pushed to watchers as a run would. */
class Writer {
  readonly log: EventLog;
  readonly source: EventSource;
  readonly written: AgentEvent[] = [];
  readonly #logId: LogId;
  readonly #runId: RunId;
  readonly #child: string | undefined;
  #seq = 0;
  #n = 0;

  constructor(log: EventLog, session: SessionId, runId: RunId, child?: string) {
    this.log = log;
    this.#logId = sessionLog(session);
    this.#runId = runId;
    this.#child = child;
    const source = logSource(log, session, runId, async (record) => record);
    this.source = child === undefined ? source : sourceOfChild(source, child);
  }

  async durable(watchers: readonly EventSubscription[], text = ""): Promise<void> {
    // Records that nobody sees stand between events.
    const hidden: NewRecord = { key: `${this.#runId}/hidden/${this.#seq}`, type: "step", data: {} };
    const shown: NewRecord = {
      key: `${this.#runId}/retry/${this.#seq}`,
      type: "retry",
      data: { attempt: this.#seq, reason: text, delayMs: 0 },
    };
    const { seq, at } = await this.log.append(this.#logId, this.#seq, this.#seq % 3 === 0 ? [hidden, shown] : [shown]);
    this.#seq = seq;
    this.#n = 0;
    const event = eventOf({ ...shown, seq: this.#seq, at }, this.#runId);
    const placed = this.#child === undefined ? event : withPath(event, this.#child);
    this.written.push(placed);
    for (const watcher of watchers) watcher.push(placed, this.source);
  }

  transient(watchers: readonly EventSubscription[], text: string): void {
    const event: AgentEvent = { type: "text-delta", text, runId: this.#runId, after: this.#seq, attempt: 0, n: ++this.#n };
    for (const watcher of watchers) watcher.push(this.#child === undefined ? event : withPath(event, this.#child));
  }

  /** Transient events that come together. */
  run(watchers: readonly EventSubscription[], texts: readonly string[]): void {
    const deltas = texts.map((text): DeltaEvent => {
      const event: DeltaEvent = { type: "text-delta", text, runId: this.#runId, after: this.#seq, attempt: 0, n: ++this.#n };
      return this.#child === undefined ? event : withPath(event, this.#child);
    });
    const bytes = deltas.reduce((sum, delta) => sum + sizeOfEvent(delta), 0);
    for (const watcher of watchers) watcher.pushDeltas({ deltas, bytes });
  }

  get seq(): number {
    return this.#seq;
  }
}

function watcherOf(maxBufferBytes = 1024 * 1024): EventSubscription {
  return new EventSubscription({ maxBufferBytes, onReturn: () => {} });
}

async function rest(watcher: EventSubscription): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of watcher) events.push(event);
  return events;
}

const isDurable = (event: AgentEvent): boolean => "seq" in event;
const pathOf = (event: AgentEvent): string => (event.path ?? []).join("/");

describe("a watcher of events", () => {
  it("loses no durable event of any log, keeps their order, and holds no more than its bound, however slow it is [EV-17, WE-02]", async () => {
    type Act = { readonly do: "durable" | "transient" | "run" | "read" | "pause"; readonly who: number; readonly size: number };
    const act = fc.record<Act>({
      do: fc.constantFrom("durable", "transient", "run", "read", "pause"),
      who: fc.nat({ max: 2 }),
      size: fc.nat({ max: 400 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(act, { maxLength: 120 }),
        fc.constantFrom(1, 600, 2_000, 1_000_000),
        fc.boolean(),
        async (acts, maxBufferBytes, endsWell) => {
          const log = createMemoryEventLog({ now: () => 7 });
          const writers = [
            new Writer(log, SESSION, OWN),
            new Writer(log, "a" as SessionId, "r_a" as RunId, "a"),
            new Writer(log, "b" as SessionId, "r_b" as RunId, "b"),
          ];
          const watcher = watcherOf(maxBufferBytes);
          const got: AgentEvent[] = [];
          const pending: Promise<unknown>[] = [];
          let sent = 0;
          for (const { do: what, who, size } of acts) {
            const writer = writers[who] as Writer;
            if (what === "durable") await writer.durable([watcher], "x".repeat(size));
            else if (what === "transient") writer.transient([watcher], `${sent++},`.padEnd(size, "."));
            else if (what === "run") {
              const texts = Array.from({ length: 1 + (size % 5) }, () => `${sent++},`);
              writer.run([watcher], texts);
            }
            // Several readers at once, as the protocol of async iterators allows.
            else if (what === "read") pending.push(watcher.next().then(({ value }) => value && got.push(value)));
            else await new Promise((resolve) => setImmediate(resolve));
            expect(watcher.bytes).toBeLessThanOrEqual(Math.max(maxBufferBytes, 3 * 100 + 600));
          }
          if (endsWell) await (writers[0] as Writer).durable([watcher]);
          watcher.end();
          await Promise.all(pending);
          got.push(...(await rest(watcher)));
          for (const [index, path] of ["", "a", "b"].entries()) {
            expect(got.filter((event) => isDurable(event) && pathOf(event) === path)).toEqual(writers[index]?.written);
          }
          // Nothing comes after what ends a stream.
          if (endsWell) expect(got.at(-1)).toEqual(writers[0]?.written.at(-1));
          // Transient ones come in order, whole or not at all, and a gap tells that some did not come.
          const numbers = got.flatMap((event) => (event.type === "text-delta" ? (event.text.match(/\d+/g) ?? []).map(Number) : []));
          expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
          expect(new Set(numbers).size).toBe(numbers.length);
          const dropped = got.reduce((sum, event) => sum + (event.type === "gap" ? event.dropped : 0), 0);
          expect(dropped > 0).toBe(numbers.length < sent);
          expect(dropped).toBeLessThanOrEqual(sent - numbers.length);
        },
      ),
    );
  });

  it("joins the deltas of one segment before it drops any", async () => {
    const writer = new Writer(createMemoryEventLog(), SESSION, OWN);
    const watcher = watcherOf(2_000);
    for (let index = 0; index < 100; index++) writer.transient([watcher], "ab");
    watcher.end();
    const events = await rest(watcher);
    expect(events.some((event) => event.type === "gap")).toBe(false);
    expect(events.map((event) => (event.type === "text-delta" ? event.text : "")).join("")).toBe("ab".repeat(100));
    expect(events.length).toBeLessThan(20);
    expect(events.at(-1)).toMatchObject({ n: 100 });
  });

  it("hands out what came together each for itself, to whoever waits first of all, and counts it as long as it holds it", async () => {
    const writer = new Writer(createMemoryEventLog(), SESSION, OWN);
    const watcher = watcherOf();
    const waiting = [watcher.next(), watcher.next()];
    writer.run([watcher], ["a", "b", "c", "d"]);
    writer.transient([watcher], "e");
    const texts: unknown[] = [];
    for (const next of waiting) texts.push((await next).value);
    expect(watcher.bytes).toBeGreaterThan(0);
    watcher.end();
    texts.push(...(await rest(watcher)));
    expect(texts).toMatchObject(["a", "b", "c", "d", "e"].map((text, index) => ({ text, n: index + 1 })));
    expect(watcher.bytes).toBe(0);
  });

  it("keeps what is left of what came together when it has to join", async () => {
    const writer = new Writer(createMemoryEventLog(), SESSION, OWN);
    const watcher = watcherOf(2_000);
    writer.run([watcher], [..."abcdefgh"]);
    const texts = [(await watcher.next()).value];
    writer.transient([watcher], "i".repeat(300));
    watcher.end();
    texts.push(...(await rest(watcher)));
    expect(texts).toMatchObject([
      { text: "a", n: 1 },
      { text: `bcdefgh${"i".repeat(300)}`, n: 9 },
    ]);
  });

  it("joins nothing across attempts, runs and durable events", async () => {
    const log = createMemoryEventLog();
    const own = new Writer(log, SESSION, OWN);
    const child = new Writer(log, "a" as SessionId, "r_a" as RunId, "a");
    const watcher = watcherOf(4_000);
    own.transient([watcher], "1");
    child.transient([watcher], "2");
    await own.durable([watcher]);
    own.transient([watcher], "3");
    for (const text of "456789") watcher.push({ type: "text-delta", text, runId: OWN, after: own.seq, attempt: 1, n: 1 });
    for (const text of "abcdefghij") watcher.push({ type: "thinking-delta", text, runId: OWN, after: own.seq, attempt: 1, n: 1 });
    watcher.end();
    expect((await rest(watcher)).flatMap((event) => ("text" in event ? [event.text] : []))).toEqual([
      "1",
      "2",
      "3",
      "456789",
      "abcdefghij",
    ]);
  });

  it("tells of what it dropped by one gap, where the first of it was, as the run's own if any of it was", async () => {
    const log = createMemoryEventLog();
    const own = new Writer(log, SESSION, OWN);
    const child = new Writer(log, "a" as SessionId, "r_a" as RunId, "a");
    const watcher = watcherOf(1_600);
    await own.durable([watcher]);
    child.transient([watcher], "x".repeat(300));
    own.transient([watcher], "y".repeat(300));
    child.transient([watcher], "z".repeat(300));
    watcher.end();
    const events = await rest(watcher);
    expect(events.map((event) => event.type)).toEqual(["retry", "gap"]);
    expect(events[1]).toEqual({ type: "gap", dropped: 3, runId: OWN, after: own.seq, attempt: 0, n: 1 });
  });

  it("never drops the event that ends its stream", async () => {
    const watcher = watcherOf(1);
    const writer = new Writer(createMemoryEventLog(), SESSION, OWN);
    for (let index = 0; index < 5; index++) writer.transient([watcher], "some text");
    watcher.push({ type: "detached", runId: OWN, after: 0, attempt: 0, n: 6 });
    writer.transient([watcher], "more");
    watcher.end();
    expect((await rest(watcher)).map((event) => event.type)).toContain("detached");
  });

  it("hands out the past before the present, each event once", async () => {
    const writer = new Writer(createMemoryEventLog(), SESSION, OWN);
    for (let index = 0; index < 5; index++) await writer.durable([]);
    const watcher = watcherOf(1);
    const first = watcher.next();
    watcher.catchUp(writer.source, 2, writer.seq);
    for (let index = 0; index < 5; index++) await writer.durable([watcher]);
    watcher.end();
    const events = [(await first).value as AgentEvent, ...(await rest(watcher))];
    expect(events).toEqual(writer.written.filter((event) => "seq" in event && event.seq > 2));
  });

  it("gets the rest of what it waits for when its run ends, then the end, as often as it asks", async () => {
    const writer = new Writer(createMemoryEventLog(), SESSION, OWN);
    const watcher = watcherOf(1);
    await writer.durable([watcher]);
    await writer.durable([watcher]);
    const asked = [watcher.next(), watcher.next(), watcher.next(), watcher.next()];
    watcher.end();
    expect((await Promise.all(asked)).map(({ done }) => done === true)).toEqual([false, false, true, true]);
    expect(await watcher.next()).toEqual({ done: true, value: undefined });
  });

  it("that leaves gets nothing more, keeps nothing, and ends what it waited for", async () => {
    let left = 0;
    const writer = new Writer(createMemoryEventLog(), SESSION, OWN);
    const watcher = new EventSubscription({ maxBufferBytes: 1, onReturn: () => left++ });
    await writer.durable([watcher]);
    await writer.durable([watcher]);
    const reading = watcher.next();
    const waiting = watcher.next();
    await watcher.return();
    await writer.durable([watcher]);
    expect([await reading, await waiting, await watcher.next()].map(({ done }) => done)).toEqual([true, true, true]);
    expect(left).toBe(1);
    expect(watcher.bytes).toBe(0);
  });

  it("is told when what it has to read again is gone, and is over then [ET-03]", async () => {
    const log = createMemoryEventLog();
    const writer = new Writer(log, SESSION, OWN);
    let left = 0;
    const watcher = new EventSubscription({ maxBufferBytes: 1, onReturn: () => left++ });
    await writer.durable([watcher]);
    await log.delete(LOG);
    const error = await watcher.next().catch((thrown: unknown) => thrown);
    expect(AgentError.is(error, "backend") && LogError.is(error.cause, "not-found")).toBe(true);
    expect(await watcher.next()).toEqual({ done: true, value: undefined });
    expect(left).toBe(1);
  });

  it("that is always a little behind keeps nothing of what it has read", async () => {
    setFlagsFromString("--expose-gc");
    const collectGarbage = runInNewContext("gc") as () => void;
    const watcher = watcherOf();
    const seen: WeakRef<AgentEvent>[] = [];
    const lag = 3;
    for (let index = 0; index < 1_000 + lag; index++) {
      const event: AgentEvent = { type: "text-delta", text: "x", runId: OWN, after: 0, attempt: index, n: 1 };
      if (index < 600) seen.push(new WeakRef(event));
      watcher.push(event);
      if (index >= lag) await watcher.next();
    }
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
    expect(seen.filter((ref) => ref.deref() !== undefined)).toHaveLength(0);
    expect(watcher.bytes).toBeLessThan(lag * 300);
  });
});
