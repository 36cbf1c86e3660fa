import type { AgentEvent, InferEvent, Provider } from "@keelson/protocol";
import fc from "fast-check";
import { createAgent, type Run } from "keelson";
import { textOf } from "keelson/providers";
import { describe, expect, it } from "vitest";
import { recordingTool, runnerOf, types } from "./support.ts";

const TEXTS = ["Let me look at it.", "Once more, from another side.", "It is seven."] as const;

/** Streams its responses piece by piece, and lets others go on after each as often as it is told to. */
function slowModel(size: number, rest: () => Promise<void>): Provider {
  let calls = 0;
  return {
    name: "slow/model",
    wire: "scripted",
    async *stream(request): AsyncGenerator<InferEvent> {
      const call = calls++;
      const text = TEXTS[call] as string;
      yield { type: "thinking-delta", text: "Hm." };
      for (let at = 0; at < text.length; at += size) {
        await rest();
        yield { type: "text-delta", text: text.slice(at, at + size) };
      }
      if (call < 2) {
        yield { type: "tool-call-start", index: 0, id: "v", name: "look" };
        yield { type: "tool-call-delta", index: 0, text: `{"n":${call}}` };
        yield { type: "tool-call-end", index: 0 };
      }
      await rest();
      const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: null, cacheCreationTokens: null, reasoningTokens: null };
      yield { type: "end", stopReason: call < 2 ? "tool-use" : "end-turn", rawStopReason: null, usage, model: request.model };
    },
  };
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Watches a run to its end, and loses the connection after each of so many events. What it saw, connection by connection. */
async function watchBrokenly(run: Run, breaks: readonly number[]): Promise<readonly (readonly AgentEvent[])[]> {
  const connections: AgentEvent[][] = [];
  let after = 0;
  for (let count = 0; ; count++) {
    const most = breaks[count] ?? Number.POSITIVE_INFINITY;
    const events: AgentEvent[] = [];
    connections.push(events);
    for await (const event of run.events({ after })) {
      events.push(event);
      if ("seq" in event) after = event.seq;
      if (event.type === "run-complete") return connections;
      if (events.length >= most) break;
    }
    await turn();
  }
}

describe("a watcher that reconnects", () => {
  it("first gets what the open response has said so far, and loses and doubles nothing, wherever its connection breaks [EV-14, EV-17]", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 9 }),
        fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 30 }),
        fc.nat(3),
        async (size, breaks, rests) => {
          const rest = async (): Promise<void> => {
            for (let times = 0; times <= rests; times++) await turn();
          };
          const agent = createAgent({ name: "a", model: slowModel(size, rest), tools: [recordingTool("look", { effect: "read" })] });
          const runner = runnerOf(agent);
          const run = runner.run("Look.", { session: "s" });
          const connections = await watchBrokenly(run, breaks);
          const responses: string[] = [];
          for (const events of connections) {
            let said = "";
            for (const event of events) {
              if (event.type === "text-delta") said += event.text;
              if (event.type !== "message" || event.message.role !== "assistant") continue;
              // Of a response that was whole before it reconnected, the log alone tells.
              expect([textOf(event.message), ""]).toContain(said);
              responses.push(textOf(event.message));
              said = "";
            }
          }
          expect(responses).toEqual(TEXTS);
          const all: number[] = [];
          for await (const event of runner.sessions.events("s")) if ("seq" in event) all.push(event.seq as number);
          expect(connections.flat().flatMap((event) => ("seq" in event ? [event.seq] : []))).toEqual(all);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("gets thoughts, text and calls as one piece each, in the place of the response, and then what comes", async () => {
    let pieces = 0;
    let goOn = (): void => {};
    const held = new Promise<void>((resolve) => (goOn = resolve));
    const model = slowModel(6, async () => {
      if (++pieces === 3) await held;
    });
    const run = runnerOf(createAgent({ name: "a", model, tools: [recordingTool("look", { effect: "read" })] })).run("Look.");
    let after = 0;
    for await (const event of run) {
      if ("seq" in event) after = event.seq;
      if (event.type === "text-delta" && event.text === "look a") break;
      if (pieces === 3) break;
    }
    const late = run.events({ after })[Symbol.asyncIterator]();
    const first: AgentEvent[] = [];
    while (first.length < 5) first.push((await late.next()).value as AgentEvent);
    expect(types(first)).toEqual(["thinking-start", "thinking-delta", "thinking-end", "text-start", "text-delta"]);
    expect(first[4]).toMatchObject({ text: "Let me look ", attempt: 1 });
    goOn();
    expect((await late.next()).value).toMatchObject({ type: "text-delta", text: "at it." });
    await late.return?.();
    await run.outcome;
  });

  it("gets nothing of a response that is in the log, or void", async () => {
    const run = runnerOf(createAgent({ name: "a", model: slowModel(6, turn), tools: [recordingTool("look", { effect: "read" })] })).run(
      "Look.",
    );
    let after = 0;
    for await (const event of run)
      if (event.type === "message" && event.message.role === "assistant") {
        after = event.seq;
        break;
      }
    for await (const event of run.events({ after })) {
      expect(event.type).not.toBe("text-start");
      if ("seq" in event) break;
    }
    await run.outcome;
  });
});
