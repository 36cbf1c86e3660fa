import { ModelError, type InferEvent, type InferRequest, type Message, type Provider } from "@keelson/protocol";
import { createAgent, defineTool, textMessage, type AgentOptions } from "keelson";
import { createModelRegistry } from "keelson/providers";
import { createMemoryStore } from "keelson/state";
import { describe, expect, it } from "vitest";
import { ofType, recordingTool, runnerOf, sharedServices, watch } from "./support.ts";

const WINDOW = 64_000;
const BYTES_PER_TOKEN = 4;

interface Responses {
  readonly requests: InferRequest[];
  /** Calls of the model that were refused. */
  refused: number;
}

/** A vendor whose model reads so many tokens, and refuses more in the words of its API. */
function vendor(
  respond: (request: InferRequest, turn: number) => string | { readonly call: unknown },
  window = WINDOW,
): Provider & Responses {
  let responded = 0;
  const state = {
    name: "narrow/model",
    wire: "scripted",
    requests: [] as InferRequest[],
    refused: 0,
    async *stream(request: InferRequest): AsyncGenerator<InferEvent> {
      state.requests.push({ ...request, messages: [...request.messages] });
      const tokens = Math.ceil(sizeOf(request) / BYTES_PER_TOKEN);
      if (tokens > window) {
        state.refused++;
        throw new ModelError({ kind: "context-overflow", message: `prompt is too long: ${tokens} tokens > ${window} maximum` });
      }
      const said = request.system?.includes("Summarise") ? "They read many pages." : respond(request, ++responded);
      const usage = { inputTokens: tokens, outputTokens: 5, cacheReadTokens: null, cacheCreationTokens: null, reasoningTokens: null };
      if (typeof said === "string") yield { type: "text-delta", text: said };
      else {
        yield { type: "tool-call-start", index: 0, id: `call_${responded}`, name: "read" };
        yield { type: "tool-call-delta", index: 0, text: JSON.stringify(said.call) };
        yield { type: "tool-call-end", index: 0 };
      }
      yield {
        type: "end",
        stopReason: typeof said === "string" ? "end-turn" : "tool-use",
        rawStopReason: null,
        usage,
        model: request.model,
      };
    },
  };
  return state;
}

function sizeOf({ system = "", messages }: InferRequest): number {
  return Buffer.byteLength(system + JSON.stringify(messages));
}

const PAGE = "The quick brown fox jumps over the lazy dog, and then it sleeps. ".repeat(620);

/** Reads pages of 40 KB. */
function reading(model: AgentOptions<undefined>["model"], options: Partial<AgentOptions<undefined>> = {}) {
  const read = defineTool({
    name: "read",
    description: "Reads a page.",
    effect: "read",
    maxOutputBytes: 1_000_000,
    input: { type: "object" },
    execute: (input) => `Page ${JSON.stringify(input)}. ${PAGE}`,
  });
  return createAgent({ name: "a", model, tools: [read], limits: { maxTurns: 100 }, ...options } as AgentOptions<undefined>);
}

/** Every call of a request has its result, and no result is without its call. */
function expectPairs({ messages }: InferRequest): void {
  const ids = (type: "tool-call" | "tool-result"): string[] =>
    messages.flatMap(({ content }: Message) => content.flatMap((part) => (part.type === type ? [part.id as string] : [])));
  expect(ids("tool-result")).toEqual(ids("tool-call"));
}

describe("a session whose conversation outgrows its model", () => {
  it.each([
    ["unknown", undefined],
    ["known", WINDOW],
  ])(
    "ends sixty turns of results of 40 KB complete, with a window of 64k that is %s, and can be gone on with",
    async (_case, contextWindow) => {
      const model = vendor((_request, turn) => (turn <= 60 ? { call: { page: turn } } : "Read it all."));
      const models = createModelRegistry({
        providers: { narrow: model },
        ...(contextWindow && { facts: { "narrow/model": { contextWindow } } }),
      });
      const runner = runnerOf(reading("narrow/model"), { models });
      const { events, outcome } = await watch(runner.run("Read sixty pages.", { session: "s" }));
      expect(outcome).toMatchObject({ reason: "complete", text: "Read it all.", turns: 61 });
      expect(ofType(events, "compaction").length).toBeGreaterThan(3);
      expect(ofType(events, "compaction").length).toBeLessThan(30);
      if (contextWindow !== undefined) expect(model.refused).toBe(0);
      for (const request of model.requests) expectPairs(request);
      // What the model asked for last stands there whole, whatever was left out before it.
      const last = model.requests.at(-1)?.messages.at(-1)?.content[0];
      expect(last).toMatchObject({ type: "tool-result", output: expect.stringContaining(PAGE) });
      expect((await runner.run("And now?", { session: "s" }).outcome).reason).toBe("complete");
    },
  );

  it("keeps a line for each old result, with its beginning, and says that it may be asked for again", async () => {
    const model = vendor((_request, turn) => (turn <= 8 ? { call: { page: turn } } : "Done."));
    const { events } = await watch(runnerOf(reading(model)).run("Read."));
    expect(ofType(events, "compaction")[0]).toMatchObject({
      level: "results",
      summary: expect.stringMatching(/^\d+ old results were left out\.$/),
    });
    expect(JSON.stringify(model.requests.at(-1)?.messages[2])).toMatch(/The result of read \(\d+ bytes\) was left out[^"]*Page \{/);
  });

  it("has what is old summed up by the model where results are not what is long, and the summary is paid and counted as any inference", async () => {
    const model = vendor((_request, turn) => (turn === 5 ? "Enough." : `${turn} ${"words and words ".repeat(4_000)}`));
    const runner = runnerOf(reading(model), sharedServices());
    for (let turn = 1; turn <= 4; turn++) await runner.run(`Question ${turn}`, { session: "s" }).outcome;
    const { events, outcome } = await watch(runner.run("Question 5", { session: "s" }));
    expect(outcome).toMatchObject({ reason: "complete", text: "Enough." });
    expect(ofType(events, "compaction")).toMatchObject([{ level: "summary", summary: expect.stringContaining("They read many pages.") }]);
    const asked = model.requests.filter(({ system }) => system?.includes("Summarise"));
    expect(asked).toHaveLength(1);
    expect(JSON.stringify(asked[0]?.messages)).toContain("Question 1");
    // The refused one, the summary, the response.
    expect(ofType(events, "usage")).toHaveLength(3);
    expect(model.requests.at(-1)?.messages.at(-1)).toEqual(textMessage("user", "Question 5"));
    expect(ofType(events, "text-delta").map(({ text }) => text)).toEqual(["Enough."]);
  });

  it("also writes such a summary to the store of the agent's compaction [ST-12]", async () => {
    const model = vendor((_request, turn) => (turn === 5 ? "Enough." : `${turn} ${"words and words ".repeat(4_000)}`));
    const store = { scope: { type: "custom", namespace: "notes", id: "1" }, key: "so-far" } as const;
    const state = createMemoryStore();
    const runner = runnerOf(reading(model, { compaction: { when: {}, store } }), { ...sharedServices(), state });
    for (let turn = 1; turn <= 5; turn++) await runner.run(`Question ${turn}`, { session: "s" }).outcome;
    expect((await state.read(store.scope, store.key))?.value).toMatchObject({
      summary: expect.stringContaining("They read many pages."),
      session: "s",
    });
  });

  it("cuts results that do not fit by themselves", async () => {
    const model = vendor((_request, turn) => (turn === 1 ? { call: { page: 1 } } : "Done."), 8_000);
    const { events, outcome } = await watch(runnerOf(reading(model)).run("Read."));
    expect(outcome).toMatchObject({ reason: "complete", text: "Done." });
    expect(ofType(events, "compaction").at(-1)).toMatchObject({ level: "cut" });
    expect(JSON.stringify(model.requests.at(-1)?.messages.at(-1))).toContain("did not fit and was cut");
  });

  it("ends in an error that explains itself where the last message alone does not fit, and is usable afterwards", async () => {
    const model = vendor(() => "Here I am.", 8_000);
    const runner = runnerOf(createAgent({ name: "a", model, tools: [recordingTool("read")] }));
    const outcome = await runner.run("x ".repeat(30_000), { session: "s" }).outcome;
    expect(outcome.error?.failure).toMatchObject({ kind: "model", model: { kind: "context-overflow" } });
    expect(outcome.error?.message).toMatch(/does not fit, and nothing more of it can be left out \(prompt is too long.*Send less at once/);
    expect(model.requests.length).toBeLessThan(4);
    expect(await runner.run("Are you there?", { session: "s" }).outcome).toMatchObject({ reason: "complete", text: "Here I am." });
  });

  it("ends, and does not try for ever, where the vendor refuses whatever is sent", async () => {
    const model = vendor(() => "never", 0);
    const { events, outcome } = await watch(runnerOf(reading(model)).run("Read."));
    expect(outcome.reason).toBe("error");
    expect(ofType(events, "compaction").length + model.requests.length).toBeLessThan(8);
  });
});
