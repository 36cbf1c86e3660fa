import { createAgent } from "keelson";
import { createModelRegistry, fitRequest, infer, modelFacts } from "keelson/providers";
import { createAnthropicProvider } from "keelson/providers/anthropic";
import { scriptedModel, startModelServer } from "keelson/testing";
import {
  type InferRequest,
  type LifecycleEvent,
  type Message,
  ModelError,
  type Provider,
  type RateLimit,
  textMessage,
} from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { ofType, recordingTool, runnerOf, watch } from "./support.ts";

const image = { type: "image", mediaType: "image/png", data: "QQ==" } as const;
const looking: Message = { role: "user", content: [{ type: "text", text: "what is it?" }, image] };
const tools = [{ name: "look", description: "Looks", inputSchema: { type: "object" } }];
const output = { name: "answer", schema: { type: "object" } };

function refusal(request: Partial<InferRequest>, model: string): string {
  try {
    fitRequest({ model, messages: [textMessage("user", "hi")], ...request }, modelFacts(model), { provider: "p", model });
    return "";
  } catch (error) {
    if (!ModelError.is(error, "invalid-request")) throw error;
    return error.message;
  }
}

describe("what is known of models", () => {
  it("is their window, how much they generate at most, and what they can do, under any of their names [MC-01, MC-02]", () => {
    expect(modelFacts("openai/gpt-4o-2024-08-06")).toEqual({
      contextWindow: 128_000,
      maxOutputTokens: 16_384,
      capabilities: { effortLevels: false },
    });
    expect(modelFacts("claude-3-haiku-20240307")).toMatchObject({ contextWindow: 200_000, maxOutputTokens: 4096 });
    expect(modelFacts("bedrock/us.anthropic.claude-3-haiku-20240307-v1:0")).toMatchObject({ maxOutputTokens: 4096 });
    expect(modelFacts("ollama/something-new")).toEqual({});
  });

  it("may be told otherwise, member by member", () => {
    const facts = modelFacts("openai/gpt-4", { "gpt-4": { contextWindow: 1, capabilities: { vision: true } } });
    expect(facts).toMatchObject({ contextWindow: 1, maxOutputTokens: 8192, capabilities: { vision: true, effortLevels: false } });
    const registry = createModelRegistry({
      providers: { mine: scriptedModel([]) },
      facts: { "mine/m": { capabilities: { vision: false } } },
    });
    expect(registry.resolve("mine/m").facts).toEqual({ capabilities: { vision: false } });
    expect(registry.resolve("mine/other").facts).toEqual({});
  });
});

describe("a request that asks for more than the model has", () => {
  it("is refused, and says what to change [MC-02]", () => {
    expect(refusal({ tools }, "o1-mini")).toMatch(/o1-mini takes no tools, and 1 were offered: choose a model/);
    expect(refusal({ messages: [looking] }, "gpt-3.5-turbo")).toMatch(/sees no images/);
    expect(refusal({ output }, "claude-3-opus-20240229")).toMatch(/can't be held to a schema/);
    expect(refusal({ effort: "high" }, "gpt-4o")).toMatch(/takes no effort, and high was asked for/);
    expect(refusal({ maxTokens: 20_000 }, "gpt-4o")).toMatch(/at most 16384 tokens, and maxTokens asks for 20000/);
    const levels = { supportedEffortLevels: ["low", "medium"] } as const;
    expect(() => fitRequest({ model: "m", messages: [], effort: "max" }, levels, { provider: "p", model: "m" })).toThrow(
      /only the efforts low, medium/,
    );
  });

  it("is none where the model can, or where nobody knows", () => {
    for (const model of ["gpt-5", "claude-sonnet-5", "gemini-3-pro", "somebody-elses-model"])
      expect(refusal({ tools, output, messages: [looking], effort: "high", maxTokens: 30_000 }, model), model).toBe("");
    expect(refusal({ tools: [] }, "o1-mini")).toBe("");
  });

  it("is not one for images that another model was shown: they are named in words, with the reason", () => {
    const result: Message = {
      role: "tool",
      content: [{ type: "tool-result", id: "c" as never, name: "shot", output: { type: "content", content: [image] } as never }],
    };
    const messages = [
      looking,
      { role: "assistant", content: [{ type: "tool-call", id: "c" as never, name: "shot", inputText: "{}" }] } as Message,
      result,
    ];
    const fit = (): InferRequest =>
      fitRequest({ model: "m", messages }, { capabilities: { vision: false } }, { provider: "p", model: "m" });
    expect(JSON.stringify(fit().messages)).not.toContain("QQ==");
    expect(
      fit().messages.map(({ content }) => JSON.stringify(content).split("[image, which is not shown: m sees no images]").length - 1),
    ).toEqual([1, 0, 1]);
    expect(fit().messages[1]).toBe(messages[1]);
    const blind = { model: "m", messages: [textMessage("user", "hi")] };
    expect(fitRequest(blind, { capabilities: { vision: false } }, { provider: "p", model: "m" })).toBe(blind);
  });

  it("reaches no server, from infer or from a run", async () => {
    await using server = await startModelServer(() => ({ text: "never" }));
    const provider = createAnthropicProvider({ apiKey: "test", baseUrl: server.url });
    const facts = { "anthropic/blind": { capabilities: { vision: false, toolCalling: false } } };
    await expect(infer(provider, { model: "blind", messages: [looking] }, { facts })).rejects.toMatchObject({
      failure: { kind: "invalid-request" },
    });
    const agent = createAgent({ name: "a", model: "anthropic/blind", tools: [recordingTool("look")] });
    const { events, outcome } = await watch(
      runnerOf(agent, { models: createModelRegistry({ providers: { anthropic: provider }, facts }) }).run("go"),
    );
    expect(outcome.error?.message).toMatch(/blind takes no tools/);
    expect(ofType(events, "usage")).toEqual([]);
    expect(server.requests).toEqual([]);
  });
});

describe("one call of a model", () => {
  it("tells how much of the model's window it took [MC-05]", async () => {
    const usage = { inputTokens: 30_000, outputTokens: 2000, cacheReadTokens: 10_000, cacheCreationTokens: 500 };
    const model = scriptedModel([{ text: "ok", usage }], { name: "m/x", price: { asOf: "", input: "1", output: "5" } });
    const registry = createModelRegistry({ providers: { m: model }, facts: { "m/x": { contextWindow: 64_000 } } });
    const { events } = await watch(runnerOf(createAgent({ name: "a", model: "m/x" }), { models: registry }).run("go"));
    expect(ofType(events, "usage")).toMatchObject([{ usage, contextUtilization: 0.5, model: "m/x" }]);
    const unknown = await watch(runnerOf(createAgent({ name: "a", model: scriptedModel([{ text: "ok", usage }]) })).run("go"));
    expect(ofType(unknown.events, "usage")[0]).not.toHaveProperty("contextUtilization");
  });

  it("thinks as it is configured, by budget, by itself or not at all [MC-04]", async () => {
    for (const thinking of [{ type: "adaptive" }, { type: "enabled", budgetTokens: 2048 }, { type: "disabled" }] as const) {
      const model = scriptedModel(["ok"]);
      await runnerOf(createAgent({ name: "a", model, thinking })).run("go").outcome;
      expect(model.requests[0]?.thinking).toEqual(thinking);
    }
  });
});

describe("a vendor's limits", () => {
  it("become an event when they are nearly used up, and when they are; whoever manages runs is told [EV-11, LE-03]", async () => {
    await using server = await startModelServer(({ index }) =>
      index === 0
        ? { status: 429, error: { message: "slow down" }, headers: { "retry-after": "9" } }
        : {
            text: "ok",
            headers: {
              "anthropic-ratelimit-tokens-limit": "1000",
              "anthropic-ratelimit-tokens-remaining": "100",
              "anthropic-ratelimit-tokens-reset": "2030-01-01T00:00:00Z",
            },
          },
    );
    const models = createModelRegistry({ providers: { anthropic: createAnthropicProvider({ apiKey: "test", baseUrl: server.url }) } });
    const told: LifecycleEvent[] = [];
    const run = runnerOf(createAgent({ name: "a", model: "anthropic/claude-haiku-4-5" }), {
      models,
      onLifecycleEvent: (event) => void told.push(event),
    }).run("go");
    const { events, outcome } = await watch(run);
    expect(outcome.text).toBe("ok");
    const limits = ofType(events, "rate-limit");
    expect(limits).toMatchObject([
      { allowed: false, utilization: 1, resetAt: expect.any(Number) },
      { allowed: true, utilization: 0.9, resetAt: Date.parse("2030-01-01T00:00:00Z") },
    ]);
    expect(limits.every((event) => "seq" in event)).toBe(true);
    expect(told.filter((event) => event.type === "observable").map(({ name }) => name)).toEqual(["rate-limit", "retry", "rate-limit"]);
  });

  it("are left out with a warning where a provider of one's own tells no ratio, and the response stands [EV-11, EV-22]", async () => {
    for (const rateLimit of [
      { utilization: 87, resetAt: null, allowed: true },
      { utilization: -0.1, resetAt: null, allowed: true },
      { utilization: Number.NaN, resetAt: null, allowed: true },
      { utilization: "0.5", resetAt: null, allowed: true },
      { utilization: 0.5, resetAt: "soon", allowed: true },
      { utilization: 0.5, resetAt: null },
    ] as unknown as readonly RateLimit[]) {
      const { events, outcome } = await watch(runnerOf(createAgent({ name: "a", model: telling(rateLimit) })).run("go"));
      expect([outcome.reason, outcome.text]).toEqual(["complete", "ok"]);
      expect(ofType(events, "rate-limit")).toEqual([]);
      expect(ofType(events, "status")).toMatchObject([
        { level: "warn", status: expect.stringMatching(/told of its rate limit is left out: (utilization|resetAt|allowed) must be/) },
      ]);
    }
    for (const rateLimit of [
      { utilization: 0, resetAt: 5, allowed: true },
      { utilization: null, resetAt: null, allowed: false },
    ]) {
      const { events } = await watch(runnerOf(createAgent({ name: "a", model: telling(rateLimit) })).run("go"));
      expect(ofType(events, "rate-limit")).toMatchObject([rateLimit]);
    }
  });
});

/** A provider of one's own that tells of its limits before it answers. */
function telling(rateLimit: RateLimit): Provider {
  const model = scriptedModel(["ok"]);
  return {
    name: model.name,
    wire: model.wire,
    async *stream(request, options) {
      yield { type: "rate-limit", rateLimit };
      yield* model.stream(request, options);
    },
  };
}

describe("the progress of a call", () => {
  it("is a ratio, and anything else is left out with a warning [EV-06, EV-22]", async () => {
    const tool = recordingTool("look");
    const { execute } = tool;
    tool.execute = (input, call) => {
      for (const ratio of [0, 1, 50, Number.NaN]) call.progress(`at ${ratio}`, ratio);
      return execute(input, call);
    };
    const model = scriptedModel([{ toolCalls: [{ name: "look" }] }, "done"]);
    const { events } = await watch(runnerOf(createAgent({ name: "a", model, tools: [tool] })).run("go"));
    expect(ofType(events, "tool-progress").map(({ message, ratio }) => [message, ratio])).toEqual([
      ["at 0", 0],
      ["at 1", 1],
      ["at 50", undefined],
      ["at NaN", undefined],
    ]);
    expect(ofType(events, "status").map(({ status }) => status)).toEqual([
      "look: the progress of a call is a ratio from 0 to 1, so 50 was left out",
      "look: the progress of a call is a ratio from 0 to 1, so NaN was left out",
    ]);
  });
});
