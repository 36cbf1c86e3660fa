import { describe, expect, it } from "vitest";
import type { Content, Message } from "../content.ts";
import type { AgentEvent, DurableEvent, TransientEvent } from "../event.ts";
import type { CallId } from "../ids.ts";
import { UNKNOWN_USAGE } from "../usage.ts";
import { toStepResponseEvents, type StepResponseEvent } from "./to-step-response-events.ts";

async function* stream(
  ...events: (DurableEvent | TransientEvent | ({ path: string[] } & (DurableEvent | TransientEvent)))[]
): AsyncGenerator<AgentEvent> {
  for (const [index, event] of events.entries())
    yield { runId: "r", seq: index, at: 0, after: 0, attempt: 1, n: index, ...event } as unknown as AgentEvent;
}
async function walrus(...events: Parameters<typeof stream>): Promise<StepResponseEvent[]> {
  const seen: StepResponseEvent[] = [];
  for await (const event of toStepResponseEvents(stream(...events))) seen.push(event);
  return seen;
}
const assistant = (...content: Content[]): Message => ({ role: "assistant", content });
const text = (value: string): Content => ({ type: "text", text: value });
const call = (id: string): Content => ({ type: "tool-call", id: id as CallId, name: "bash", input: { a: 1 }, inputText: '{"a":1}' });
const summary = (id: string) => ({ callId: id as CallId, name: "bash", input: { a: 1 }, inputText: '{"a":1}' });
const done = (reason: "complete" | "max-turns" | "timeout" | "no-action"): DurableEvent => ({
  type: "run-complete",
  reason,
  text: "",
  usage: UNKNOWN_USAGE,
  cost: null,
  turns: 1,
});

describe("our events in the words of the step-and-response design", () => {
  it("are the seven kinds in their order, with all steps in the last one [WE-01, WE-02, WE-03, WE-04, WE-05]", async () => {
    const first = assistant({ type: "thinking", text: "hm" }, text("Let me look."), call("c_1"), call("c_2"));
    const last = assistant(text("Done."));
    const events = await walrus(
      { type: "turn-start", turn: 1, model: "m" },
      { type: "thinking-start" },
      { type: "thinking-delta", text: "hm" },
      { type: "thinking-end" },
      { type: "text-start" },
      { type: "text-delta", text: "Let me" },
      { type: "text-delta", text: " look." },
      { type: "text-end" },
      { type: "message", message: first },
      { type: "tool-calls-start", calls: [summary("c_1"), summary("c_2")] },
      { type: "tool-result", callId: "c_1" as CallId, name: "bash", output: "ok", isError: false, durationMs: 1 },
      { type: "tool-result", callId: "c_2" as CallId, name: "bash", output: { exit: 1 }, isError: true, durationMs: 1 },
      { type: "tool-calls-complete" },
      { type: "turn-end", turn: 1 },
      { type: "compaction", summary: "short", messagesBefore: 3, messages: [] },
      { type: "text-delta", text: "Done." },
      { type: "message", message: last },
      done("complete"),
    );
    expect(events).toEqual([
      { type: "thinking-delta", text: "hm" },
      { type: "text-delta", text: "Let me" },
      { type: "text-delta", text: " look." },
      { type: "tool-calls-start", calls: [summary("c_1"), summary("c_2")] },
      { type: "tool-result", callId: "c_1", output: "ok" },
      { type: "tool-result", callId: "c_2", output: '{"exit":1}' },
      { type: "tool-calls-complete" },
      { type: "compact", summary: "short" },
      { type: "text-delta", text: "Done." },
      {
        type: "done",
        response: {
          steps: [
            {
              response: first,
              toolCalls: [summary("c_1"), summary("c_2")],
              toolResults: [
                { role: "tool", content: [{ type: "tool-result", id: "c_1", name: "bash", output: "ok" }] },
                { role: "tool", content: [{ type: "tool-result", id: "c_2", name: "bash", output: { exit: 1 }, isError: true }] },
              ],
            },
            { response: last, toolCalls: [], toolResults: [] },
          ],
          finalResponse: "Done.",
          iterations: 2,
          stopReason: { type: "text-response" },
        },
      },
    ]);
  });

  it("come whole from a log that has no deltas, and the deltas of a broken attempt don't count [WE-03]", async () => {
    expect(
      await walrus({ type: "message", message: assistant({ type: "thinking", text: "t" }, text("a"), text("b")) }, done("complete")),
    ).toMatchObject([{ type: "thinking-delta", text: "t" }, { type: "text-delta", text: "ab" }, { type: "done" }]);
    const retried = await walrus(
      { type: "text-delta", text: "par" },
      { type: "retry", attempt: 1, reason: "reset", delayMs: 0 },
      { type: "message", message: assistant(text("whole")) },
      done("complete"),
    );
    expect(retried.map((event) => (event.type === "text-delta" ? event.text : event.type))).toEqual(["par", "whole", "done"]);
  });

  it("leave out the user's own messages and what happens in children", async () => {
    const events = await walrus(
      { type: "message", message: { role: "user", content: [text("task")] } },
      { path: ["child"], type: "text-delta", text: "from a child" },
      { path: ["child"], ...done("complete") },
      done("no-action"),
    );
    expect(events).toEqual([{ type: "done", response: { steps: [], iterations: 0, stopReason: { type: "no-action" } } }]);
  });

  it("end with the reason why, and with nothing after it [WE-05, WE-06]", async () => {
    const stopReason = async (event: DurableEvent) => {
      const last = (await walrus(event, { type: "text-delta", text: "late" })).at(-1);
      return last?.type === "done" ? last.response.stopReason : last;
    };
    expect(await stopReason(done("max-turns"))).toEqual({ type: "max-iterations" });
    expect(await stopReason(done("timeout"))).toEqual({ type: "error", message: "timeout" });
    expect(await stopReason({ type: "error", failure: { kind: "backend", message: "disk is gone" } })).toEqual({
      type: "error",
      message: "disk is gone",
    });
  });

  it("have no end while the run is only suspended or goes on elsewhere [WE-05]", async () => {
    expect(await walrus({ type: "run-suspend", reason: "awaiting-approval", waits: [] })).toEqual([]);
    expect(await walrus({ type: "text-delta", text: "a" }, { type: "detached" })).toEqual([{ type: "text-delta", text: "a" }]);
  });
});
