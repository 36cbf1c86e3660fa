import type { AgentEvent } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { createStyle } from "../text/style.ts";
import { createMessageQueue, type MessageQueue } from "./message-queue.ts";

function setUp(): {
  readonly queue: MessageQueue;
  readonly delivered: string[];
  after(...types: readonly AgentEvent["type"][]): Promise<void>;
  shown(columns?: number): readonly string[];
} {
  const delivered: string[] = [];
  const queue = createMessageQueue({ style: createStyle(false), onChange() {}, deliver: (text) => delivered.push(text) });
  let push: (event: AgentEvent) => void = () => {};
  async function* events(): AsyncIterable<AgentEvent> {
    for (;;) yield await new Promise<AgentEvent>((resolve) => (push = resolve));
  }
  const iterator = queue.following(events())[Symbol.asyncIterator]();
  return {
    queue,
    delivered,
    async after(...types) {
      for (const type of types) {
        const next = iterator.next();
        await Promise.resolve();
        push({ type, runId: "r1", seq: 1, at: 0 } as AgentEvent);
        await next;
      }
    },
    shown: (columns = 60) => queue.part.rows({ columns, rows: 10 }).lines,
  };
}

describe("createMessageQueue", () => {
  it("holds a message while a response streams, and hands it over when the calls begin", async () => {
    const { queue, delivered, after, shown } = setUp();
    await after("run-start", "turn-start", "text-delta");
    queue.send("use pnpm");
    expect([delivered, shown()]).toEqual([[], ["waits › use pnpm (Alt-Up edits)"]]);
    await after("tool-calls-start");
    expect([delivered, shown()]).toEqual([["use pnpm"], []]);
  });

  it("hands a message over immediately while calls run, and holds it again in the next turn", async () => {
    const { queue, delivered, after } = setUp();
    await after("turn-start", "tool-calls-start");
    queue.send("one");
    await after("tool-result", "tool-calls-complete");
    queue.send("two");
    await after("turn-start");
    queue.send("three");
    expect([delivered, queue.takeAll()]).toEqual([["one", "two"], ["three"]]);
  });

  it("keeps the messages for a run that is being stopped, also while its calls run, until it has ended", async () => {
    const { queue, delivered, after } = setUp();
    await after("turn-start", "tool-calls-start");
    queue.hold();
    queue.send("not so");
    await after("tool-calls-complete", "turn-start", "tool-calls-start");
    expect([delivered, queue.takeAll()]).toEqual([[], ["not so"]]);
    queue.send("go on");
    expect(delivered).toEqual([]);
    await after("tool-calls-start");
    expect(delivered).toEqual(["go on"]);
  });

  it("gives back the last message that the run does not have", async () => {
    const { queue, after, shown } = setUp();
    await after("turn-start");
    for (const text of ["one", "two\nlines", "three", "four"]) queue.send(text);
    expect(shown(24)).toEqual(["waits (+1) › two⏎lines", "waits › three", "waits › … (Alt-Up edits)"]);
    expect([queue.takeLast(), queue.takeLast(), queue.takeAll(), queue.takeLast()]).toEqual([
      "four",
      "three",
      ["one", "two\nlines"],
      undefined,
    ]);
  });
});
