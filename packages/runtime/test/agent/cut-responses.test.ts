import { ModelError, type InferEvent, type InferRequest, type Provider } from "@keelson/protocol";
import { createAgent, defineTool, type AgentOptions, type Run, type RunnerOptions } from "keelson";
import { scriptedModel } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { ofType, runnerOf, sharedServices, types, watch } from "./support.ts";

/** A model that says this and then nothing more, until it is told to end. Then, where there are others, it answers by these. */
function hangingModel(said: readonly InferEvent[], later: readonly string[] = []): Provider & { readonly requests: InferRequest[] } {
  const next = scriptedModel(later, { price: PRICE });
  const requests: InferRequest[] = [];
  return {
    name: "hanging/model",
    wire: "scripted",
    requests,
    price: PRICE,
    async *stream(request, options) {
      requests.push({ ...request, messages: [...request.messages] });
      if (requests.length > 1) return yield* next.stream(request, options);
      yield* said;
      await new Promise<void>((resolve) => {
        if (options?.signal?.aborted) resolve();
        options?.signal?.addEventListener("abort", () => resolve(), { once: true });
      });
      throw new ModelError({ kind: "cancelled", message: "the call was cancelled" });
    },
  } as Provider & { readonly requests: InferRequest[] };
}
const PRICE = { input: "1", output: "10", asOf: "2026-01-01" } as const;

const HALF: readonly InferEvent[] = [
  { type: "thinking-start" },
  { type: "thinking-delta", text: "Hm." },
  { type: "thinking-end" },
  { type: "text-start" },
  { type: "text-delta", text: "It is " },
  { type: "text-delta", text: "three" },
];
const KEPT = { role: "assistant", content: [{ type: "text", text: "It is three" }], cut: true };

/** Watches a run, and acts once it has seen this text. */
async function once(text: string, run: Run, act: () => Promise<void>): Promise<Awaited<ReturnType<typeof watch>>> {
  const events = [];
  for await (const event of run) {
    events.push(event);
    if (event.type === "text-delta" && event.text === text) await act();
  }
  return { events, outcome: await run.outcome };
}

function setUp(model: Provider, options: Partial<AgentOptions<undefined>> = {}, runnerOptions: RunnerOptions = {}) {
  const runner = runnerOf(createAgent({ name: "a", model, ...options } as AgentOptions<undefined>), runnerOptions);
  return { runner, run: runner.run("What is it?", { session: "s" }) };
}

describe("a response that is cut off", () => {
  it("by an abort stands in the conversation as far as people saw it, marked, and is the text of the outcome [RN-05, EV-14]", async () => {
    const model = hangingModel(HALF, ["Three and a half."]);
    const { runner, run } = setUp(model);
    const { events, outcome } = await once("three", run, () => run.abort());
    expect(outcome).toMatchObject({ reason: "aborted", text: "It is three", cut: true });
    expect(outcome.turns).toBe(0);
    expect(ofType(events, "message").at(-1)?.message).toEqual(KEPT);
    expect(ofType(events, "run-complete")[0]).toMatchObject({ reason: "aborted", text: "It is three" });
    expect((await runner.sessions.get("s")).messages.at(-1)).toEqual(KEPT);
    const next = await runner.run("Go on.", { session: "s" }).outcome;
    expect(next).toMatchObject({ reason: "complete", text: "Three and a half." });
    expect(next.cut).toBeUndefined();
    expect(model.requests[1]?.messages).toEqual([
      { role: "user", content: [{ type: "text", text: "What is it?" }] },
      KEPT,
      { role: "user", content: [{ type: "text", text: "Go on." }] },
    ]);
  });

  it("by a stop ends at once, and is kept [RN-04, RN-10]", async () => {
    const { runner, run } = setUp(hangingModel(HALF));
    const { events, outcome } = await once("three", run, () => run.stop());
    expect(outcome).toMatchObject({ reason: "stopped", text: "It is three", cut: true });
    expect(types(events)).not.toContain("retry");
    expect((await runner.sessions.get("s")).messages.at(-1)).toEqual(KEPT);
  });

  it("by a stop that comes before the model said anything leaves nothing behind [RN-04]", async () => {
    const model = hangingModel([]);
    const { runner, run } = setUp(model);
    for await (const event of run) if (event.type === "turn-start") await run.stop();
    const outcome = await run.outcome;
    expect(outcome).toMatchObject({ reason: "stopped", text: "" });
    expect(outcome.cut).toBeUndefined();
    expect((await runner.sessions.get("s")).messages).toHaveLength(1);
  });

  it("by the limit of time is kept", async () => {
    const { run } = setUp(hangingModel(HALF), { limits: { maxDurationMs: 50 } }, { clock: undefined as never });
    const { outcome } = await watch(run);
    expect(outcome).toMatchObject({ reason: "timeout", text: "It is three", cut: true });
  });

  it("loses the calls that were not asked for to the end, and reasoning without a signature", async () => {
    const calls: unknown[] = [];
    const look = defineTool({
      name: "look",
      description: "Looks.",
      effect: "read",
      input: { type: "object" },
      execute: (input) => void calls.push(input),
    });
    const model = hangingModel([
      ...HALF,
      { type: "text-end" },
      { type: "tool-call-start", index: 0, id: "call_0", name: "look" },
      { type: "tool-call-delta", index: 0, text: "{}" },
      { type: "tool-call-end", index: 0 },
      { type: "tool-call-start", index: 1, id: "call_1", name: "look" },
      { type: "tool-call-delta", index: 1, text: '{"at":' },
    ]);
    const { runner, run } = setUp(model, { tools: [look] });
    for await (const event of run) if (event.type === "tool-call-delta" && event.text !== "{}") await run.abort();
    expect((await runner.sessions.get("s")).messages.at(-1)).toEqual(KEPT);
    expect(calls).toEqual([]);
  });

  it("that only thought leaves nothing behind", async () => {
    const { runner, run } = setUp(hangingModel(HALF.slice(0, 3)));
    for await (const event of run) if (event.type === "thinking-delta") await run.abort();
    expect((await runner.sessions.get("s")).messages.map(({ role }) => role)).toEqual(["user"]);
    expect((await run.outcome).cut).toBeUndefined();
  });

  it("is paid for as an estimate that says so [MC-05]", async () => {
    const { run } = setUp(hangingModel(HALF), { limits: { maxCost: "1" } });
    const { events } = await once("three", run, () => run.abort());
    expect(ofType(events, "usage").map(({ estimated }) => estimated)).toEqual([true]);
  });
});

describe("a response that broke off", () => {
  const broken = (text: string) => ({ text, error: { kind: "server-error" as const } });

  it("is discarded where it is asked for again, and kept where the run ends with it [ET-07]", async () => {
    const { runner, run } = setUp(scriptedModel([broken("First"), broken("Second")]), { limits: { maxRetries: 1 } });
    const { events, outcome } = await watch(run);
    expect(outcome).toMatchObject({ reason: "error", text: "Second", cut: true });
    expect((await runner.sessions.get("s")).messages.slice(1)).toEqual([
      { role: "assistant", content: [{ type: "text", text: "Second" }], cut: true },
    ]);
    expect(ofType(events, "message").filter(({ message }) => message.role === "assistant")).toHaveLength(1);
  });

  it("is discarded where the next attempt responds", async () => {
    const { runner, run } = setUp(scriptedModel([broken("First"), "Second"]));
    const { outcome } = await watch(run);
    expect(outcome).toMatchObject({ reason: "complete", text: "Second" });
    expect(outcome.cut).toBeUndefined();
    expect((await runner.sessions.get("s")).messages).toHaveLength(2);
  });

  it("is discarded where another model is asked", async () => {
    const { run, runner } = setUp(scriptedModel([broken("First")]), {
      fallbackModel: scriptedModel(["Second"], { name: "other/model" }),
      limits: { maxRetries: 0 },
    });
    expect((await watch(run)).outcome).toMatchObject({ reason: "complete", text: "Second" });
    expect((await runner.sessions.get("s")).messages).toHaveLength(2);
  });

  it("is kept where a callback ends the run for it, or throws [AG-28]", async () => {
    for (const onModelError of [
      () => ({ type: "abort" as const, message: "enough" }),
      () => {
        throw new Error("oops");
      },
    ]) {
      const { run } = setUp(scriptedModel([broken("First")]), { onModelError });
      expect((await watch(run)).outcome).toMatchObject({ reason: "error", text: "First", cut: true });
    }
  });

  it("is gone where the run is stopped while it waits to ask again: watchers were told so", async () => {
    const { run, runner } = setUp(scriptedModel([broken("First"), "never"]), {}, { ...sharedServices(), clock: undefined as never });
    for await (const event of run) if (event.type === "retry") await run.stop();
    expect(await run.outcome).toMatchObject({ reason: "stopped", text: "" });
    expect((await runner.sessions.get("s")).messages).toHaveLength(1);
  });
});
