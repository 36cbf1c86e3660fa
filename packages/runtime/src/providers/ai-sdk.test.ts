import { type CallId, type Message, ModelError } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { type AiSdkModel, createAiSdkProvider } from "./ai-sdk.ts";
import { infer, textOf } from "./infer.ts";

type Part = { readonly type: string; readonly [field: string]: unknown };
interface Fake extends AiSdkModel {
  readonly calls: { readonly [option: string]: unknown }[];
  cancelled: boolean;
}

/** A model written by hand after the specification: streams the given parts, and keeps what it was asked. */
function fakeModel(parts: readonly (Part | Promise<Part>)[], facts: Partial<AiSdkModel> & { headers?: Record<string, string> } = {}): Fake {
  const calls: { readonly [option: string]: unknown }[] = [];
  const fake: Fake = {
    specificationVersion: facts.specificationVersion ?? "v4",
    provider: facts.provider ?? "acme.chat",
    modelId: facts.modelId ?? "acme-1",
    calls,
    cancelled: false,
    async doStream(options) {
      calls.push(options);
      const left = [...parts];
      const stream = new ReadableStream<Part>({
        async pull(controller) {
          const next = left.shift();
          if (next === undefined) controller.close();
          else controller.enqueue(await next);
        },
        cancel() {
          fake.cancelled = true;
        },
      });
      return { stream, ...(facts.headers && { response: { headers: facts.headers } }) };
    },
  };
  return fake;
}

const usage = {
  inputTokens: { total: 100, noCache: 30, cacheRead: 50, cacheWrite: 20 },
  outputTokens: { total: 40, text: 25, reasoning: 15 },
};
const finish = (unified = "stop", raw: string | undefined = undefined): Part => ({ type: "finish", usage, finishReason: { unified, raw } });
const request = { model: "acme-1", messages: [{ role: "user", content: [{ type: "text", text: "hi" }] } satisfies Message] };

describe("createAiSdkProvider", () => {
  it("reads text, reasoning, calls, files, sources, warnings and what the response tells of itself", async () => {
    const model = fakeModel([
      { type: "stream-start", warnings: [{ type: "unsupported", feature: "topP" }] },
      { type: "response-metadata", id: "r1", modelId: "acme-1-0901", timestamp: new Date(0) },
      { type: "reasoning-start", id: "0" },
      { type: "reasoning-delta", id: "0", delta: "Let me " },
      { type: "reasoning-delta", id: "0", delta: "see." },
      { type: "reasoning-delta", id: "0", delta: "", providerMetadata: { acme: { signature: "sig" } } },
      { type: "reasoning-end", id: "0" },
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: "Hello" },
      { type: "text-delta", id: "1", delta: " there" },
      { type: "text-end", id: "1", providerMetadata: { acme: { itemId: "m1" } } },
      { type: "source", sourceType: "url", id: "s1", url: "https://example.com" },
      { type: "file", mediaType: "image/png", data: { type: "data", data: new Uint8Array([1, 2, 3]) } },
      { type: "file", mediaType: "application/pdf", data: { type: "url", url: new URL("https://example.com/a.pdf") } },
      { type: "raw", rawValue: {} },
      { type: "tool-input-start", id: "c1", toolName: "add" },
      { type: "tool-input-delta", id: "c1", delta: '{"a":' },
      { type: "tool-input-delta", id: "c1", delta: "1}" },
      { type: "tool-input-end", id: "c1" },
      { type: "tool-call", toolCallId: "c1", toolName: "add", input: '{"a":1}', providerMetadata: { acme: { itemId: "f1" } } },
      { type: "tool-call", toolCallId: "c2", toolName: "ping", input: "" },
      finish("tool-calls", "tool_use"),
    ]);
    const response = await infer(createAiSdkProvider(model), request);
    const kept = { wire: "ai-sdk", model: "acme.chat/acme-1" };
    expect(response.content).toEqual([
      { type: "thinking", text: "Let me see.", providerData: { ...kept, providerMetadata: { acme: { signature: "sig" } } } },
      { type: "text", text: "Hello there", providerData: { ...kept, providerMetadata: { acme: { itemId: "m1" } } } },
      { type: "image", mediaType: "image/png", data: "AQID", providerData: kept },
      { type: "file", mediaType: "application/pdf", url: "https://example.com/a.pdf", providerData: kept },
      {
        type: "tool-call",
        id: "c1",
        name: "add",
        input: { a: 1 },
        inputText: '{"a":1}',
        providerData: { ...kept, id: "c1", providerMetadata: { acme: { itemId: "f1" } } },
      },
      { type: "tool-call", id: "c2", name: "ping", input: {}, inputText: "", providerData: { ...kept, id: "c2" } },
    ]);
    expect(response).toMatchObject({ stopReason: "tool-use", rawStopReason: "tool_use", model: "acme-1-0901" });
    expect(response.usage).toEqual({
      inputTokens: 100,
      outputTokens: 40,
      cacheReadTokens: 50,
      cacheCreationTokens: 20,
      reasoningTokens: 15,
    });
    expect(response.providerData).toEqual({
      wire: "ai-sdk",
      id: "r1",
      warnings: [{ type: "unsupported", feature: "topP" }],
      sources: [{ sourceType: "url", id: "s1", url: "https://example.com" }],
    });
  });

  it("keeps blocks apart that a model interleaves, with the metadata of each", async () => {
    const model = fakeModel([
      { type: "text-start", id: "a" },
      { type: "text-delta", id: "a", delta: "one" },
      { type: "reasoning-start", id: "a", providerMetadata: { acme: { redacted: "xyz" } } },
      { type: "text-delta", id: "a", delta: "two" },
      { type: "reasoning-end", id: "a", providerMetadata: { acme: { more: 1 } } },
      { type: "text-end", id: "a" },
      finish(),
    ]);
    const response = await infer(createAiSdkProvider(model), request);
    expect(textOf(response)).toBe("onetwo");
    const thoughts = response.content
      .filter((part) => part.type === "thinking")
      .map(({ providerData }) => providerData?.["providerMetadata"]);
    expect(thoughts).toEqual([{ acme: { redacted: "xyz" } }, { acme: { more: 1 } }]);
  });

  it.each([
    ["stop", "end-turn"],
    ["length", "max-tokens"],
    ["content-filter", "content-filter"],
    ["other", "other"],
    ["something-new", "other"],
  ])("takes the finish reason %s for %s", async (unified, stopReason) => {
    const response = await infer(createAiSdkProvider(fakeModel([finish(unified, "RAW")])), request);
    expect([response.stopReason, response.rawStopReason]).toEqual([stopReason, "RAW"]);
  });

  it("reads version 2, whose usage and finish reason are flat and whose files are bare", async () => {
    const model = fakeModel(
      [
        { type: "file", mediaType: "image/png", data: "AQID" },
        {
          type: "finish",
          finishReason: "length",
          usage: { inputTokens: 7, outputTokens: 3, totalTokens: 10, cachedInputTokens: 2, reasoningTokens: 1 },
        },
      ],
      { specificationVersion: "v2" },
    );
    const response = await infer(createAiSdkProvider(model), request);
    expect(response).toMatchObject({ stopReason: "max-tokens", rawStopReason: "length", content: [{ type: "image", data: "AQID" }] });
    expect(response.usage).toEqual({ inputTokens: 7, outputTokens: 3, cacheReadTokens: 2, cacheCreationTokens: null, reasoningTokens: 1 });
  });

  it("keeps what the vendor ran itself for replay, and dispatches none of it", async () => {
    const model = fakeModel([
      { type: "tool-input-start", id: "w1", toolName: "web_search", providerExecuted: true },
      { type: "tool-input-delta", id: "w1", delta: "{}" },
      { type: "tool-call", toolCallId: "w1", toolName: "web_search", input: '{"q":"x"}', providerExecuted: true },
      { type: "tool-result", toolCallId: "w1", toolName: "web_search", result: { draft: true }, preliminary: true },
      { type: "tool-result", toolCallId: "w1", toolName: "web_search", result: [{ url: "u" }], providerMetadata: { acme: { k: 1 } } },
      { type: "custom", kind: "acme.note", providerMetadata: { acme: { note: "n" } } },
      finish(),
    ]);
    const provider = createAiSdkProvider(model);
    const response = await infer(provider, request);
    expect(response.toolCalls).toEqual([]);
    expect(response.stopReason).toBe("end-turn");
    await infer(provider, { ...request, messages: [...request.messages, { role: "assistant", content: response.content }] });
    expect((model.calls[1]?.["prompt"] as readonly unknown[])[1]).toEqual({
      role: "assistant",
      content: [
        { type: "tool-call", toolCallId: "w1", toolName: "web_search", input: { q: "x" }, providerExecuted: true },
        {
          type: "tool-result",
          toolCallId: "w1",
          toolName: "web_search",
          output: { type: "json", value: [{ url: "u" }] },
          providerOptions: { acme: { k: 1 } },
        },
        { type: "custom", kind: "acme.note", providerOptions: { acme: { note: "n" } } },
      ],
    });
  });

  it("asks with all that a request holds [AG-06, AG-07]", async () => {
    const model = fakeModel([finish()]);
    await infer(createAiSdkProvider(model, { headers: { "x-team": "a" }, providerOptions: { acme: { a: 1 }, other: { c: 3 } } }), {
      ...request,
      system: "be brief",
      tools: [{ name: "add", description: "adds", inputSchema: { type: "object" } }],
      toolChoice: { name: "add" },
      maxTokens: 50,
      temperature: 0.5,
      topP: 0.9,
      stopSequences: ["END"],
      effort: "max",
      output: { name: "sum", schema: { type: "object" } },
      extra: { topK: 3, providerOptions: { acme: { b: 2 } } },
    });
    const { abortSignal, ...options } = model.calls[0] ?? {};
    expect(abortSignal).toBeInstanceOf(AbortSignal);
    expect(options).toEqual({
      prompt: [
        { role: "system", content: "be brief" },
        { role: "user", content: [{ type: "text", text: "hi" }] },
      ],
      includeRawChunks: false,
      maxOutputTokens: 50,
      temperature: 0.5,
      topP: 0.9,
      stopSequences: ["END"],
      tools: [{ type: "function", name: "add", description: "adds", inputSchema: { type: "object", properties: {} } }],
      toolChoice: { type: "tool", toolName: "add" },
      responseFormat: { type: "json", schema: { type: "object", properties: {} }, name: "sum" },
      reasoning: "xhigh",
      headers: { "x-team": "a" },
      providerOptions: { acme: { b: 2 }, other: { c: 3 } },
      topK: 3,
    });
    const silent = fakeModel([finish()]);
    await infer(createAiSdkProvider(silent), { ...request, thinking: { type: "disabled" } });
    expect(silent.calls[0]).toMatchObject({ reasoning: "none" });
  });

  const call = (id: string, providerData?: Record<string, string>): Message["content"][number] => ({
    type: "tool-call",
    id: id as CallId,
    name: "look",
    input: { at: id },
    inputText: "",
    ...(providerData && { providerData: { wire: "ai-sdk", ...providerData } }),
  });
  const history: readonly Message[] = [
    {
      role: "assistant",
      content: [
        {
          type: "thinking",
          text: "mine",
          providerData: { wire: "ai-sdk", model: "acme.chat/acme-1", providerMetadata: { acme: { s: 1 } } },
        },
        { type: "thinking", text: "foreign", providerData: { wire: "anthropic-messages", signature: "x" } },
        call("k1", { model: "acme.chat/acme-1", id: "vendor-1" }),
        call("k2"),
        call("k3"),
      ],
    },
    {
      role: "tool",
      content: [
        {
          type: "tool-result",
          id: "k1" as CallId,
          name: "look",
          output: {
            type: "content",
            content: [
              { type: "text", text: "a picture" },
              { type: "image", mediaType: "image/png", data: "AQID" },
            ],
          },
        },
        { type: "tool-result", id: "k2" as CallId, name: "look", output: { code: 5 }, isError: true },
      ],
    },
    { role: "user", content: [{ type: "file", mediaType: "application/pdf", name: "a.pdf", url: "https://example.com/a.pdf" }] },
  ];

  it.each([
    [
      "v4",
      { type: "file", mediaType: "image/png", data: { type: "data", data: "AQID" } },
      { type: "url", url: new URL("https://example.com/a.pdf") },
    ],
    ["v3", { type: "image-data", mediaType: "image/png", data: "AQID" }, new URL("https://example.com/a.pdf")],
    ["v2", { type: "media", mediaType: "image/png", data: "AQID" }, new URL("https://example.com/a.pdf")],
  ])(
    "says a conversation in the words of %s: own thinking back, foreign thinking dropped, open calls closed",
    async (version, media, data) => {
      const model = fakeModel([finish()], { specificationVersion: version });
      await infer(createAiSdkProvider(model), { model: "", messages: history });
      expect(model.calls[0]?.["prompt"]).toEqual([
        {
          role: "assistant",
          content: [
            { type: "reasoning", text: "mine", providerOptions: { acme: { s: 1 } } },
            { type: "tool-call", toolCallId: "vendor-1", toolName: "look", input: { at: "k1" } },
            { type: "tool-call", toolCallId: "k2", toolName: "look", input: { at: "k2" } },
            { type: "tool-call", toolCallId: "k3", toolName: "look", input: { at: "k3" } },
          ],
        },
        {
          role: "tool",
          content: [
            {
              type: "tool-result",
              toolCallId: "vendor-1",
              toolName: "look",
              output: { type: "content", value: [{ type: "text", text: "a picture" }, media] },
            },
            { type: "tool-result", toolCallId: "k2", toolName: "look", output: { type: "error-json", value: { code: 5 } } },
            {
              type: "tool-result",
              toolCallId: "k3",
              toolName: "look",
              output: { type: "error-text", value: "This call was not executed." },
            },
          ],
        },
        { role: "user", content: [{ type: "file", mediaType: "application/pdf", filename: "a.pdf", data }] },
      ]);
    },
  );

  it("gives metadata back to no other model", async () => {
    const other = fakeModel([finish()], { modelId: "acme-2" });
    await infer(createAiSdkProvider(other), { model: "", messages: history });
    expect(JSON.stringify(other.calls[0]?.["prompt"])).not.toContain("mine");
  });

  it("asks a whole provider for the model that a request names", async () => {
    const models: string[] = [];
    const provider = createAiSdkProvider((modelId) => {
      models.push(modelId);
      return fakeModel([finish()], { modelId });
    });
    expect((await infer(provider, { ...request, model: "acme-9" })).model).toBe("acme-9");
    expect(models).toEqual(["acme-9"]);
  });

  it("tells of limits that are nearly used up", async () => {
    const model = fakeModel([finish()], { headers: { "x-ratelimit-limit-requests": "10", "x-ratelimit-remaining-requests": "1" } });
    const events: unknown[] = [];
    for await (const event of createAiSdkProvider(model).stream(request)) events.push(event);
    expect(events[0]).toMatchObject({ type: "rate-limit", rateLimit: { utilization: 0.9 } });
  });
});

describe("failures of an AI SDK model", () => {
  /** As `APICallError` of `@ai-sdk/provider` looks from outside. */
  const apiCallError = (facts: Record<string, unknown>): Error =>
    Object.assign(new Error("it failed"), { name: "AI_APICallError", url: "https://acme.example", isRetryable: false, ...facts });
  const named = (name: string): Error => Object.assign(new Error("it failed"), { name });

  async function failureOf(thrown: unknown, inStream = false): Promise<ModelError> {
    const model: AiSdkModel = inStream
      ? fakeModel([
          { type: "text-delta", id: "0", delta: "par" },
          { type: "error", error: thrown },
        ])
      : { ...fakeModel([]), doStream: () => Promise.reject(thrown) };
    const error = await infer(createAiSdkProvider(model), request).catch((caught: unknown) => caught);
    if (!ModelError.is(error)) throw new Error("no ModelError", { cause: error });
    return error;
  }

  it.each([
    [{ statusCode: 401 }, "authentication"],
    [{ statusCode: 429, isRetryable: true, responseHeaders: { "retry-after": "7" } }, "rate-limit"],
    [{ statusCode: 500, isRetryable: true }, "server-error"],
    [{ statusCode: 409, isRetryable: true }, "server-error"],
    [{ statusCode: 503, isRetryable: false }, "other"],
    [{ statusCode: 400, responseBody: '{"error":{"message":"prompt is too long"}}' }, "context-overflow"],
    [{ statusCode: 400 }, "invalid-request"],
    [{ statusCode: 200 }, "invalid-response"],
    [{ isRetryable: true }, "server-error"],
    [{}, "other"],
  ])("an APICallError of %j is %s, thrown or streamed [PV-09]", async (facts, kind) => {
    for (const inStream of [false, true]) {
      const error = await failureOf(apiCallError(facts), inStream);
      expect(error.failure).toMatchObject({ kind, provider: "acme.chat" });
      expect(error.retryable).toBe("isRetryable" in facts && facts.isRetryable);
    }
  });

  it("keeps the wait, the status and the vendor's words", async () => {
    const error = await failureOf(
      apiCallError({
        statusCode: 429,
        isRetryable: true,
        responseHeaders: { "retry-after": "7", "x-request-id": "q1" },
        responseBody: '{"error":{"message":"slow down","code":"rate_limit_exceeded"}}',
      }),
    );
    expect(error.failure).toMatchObject({ status: 429, retryAfterMs: 7000, requestId: "q1", code: "rate_limit_exceeded" });
    expect(error.message).toContain("slow down");
  });

  it.each([
    [named("AI_LoadAPIKeyError"), "authentication"],
    [named("AI_UnsupportedFunctionalityError"), "invalid-request"],
    [named("AI_TypeValidationError"), "invalid-response"],
    [new Error("socket hang up"), "server-error"],
    [{ type: "overloaded_error", message: "busy" }, "server-error"],
    [{ code: "rate_limit_exceeded", message: "slow" }, "rate-limit"],
    ["out of order", "server-error"],
  ])("%s is %s [PV-09]", async (thrown, kind) => expect((await failureOf(thrown, true)).failure.kind).toBe(kind));

  it("a stream without a finish is one; a finish for an error ends as no good response does", async () => {
    const cut = fakeModel([{ type: "text-delta", id: "0", delta: "par" }]);
    await expect(infer(createAiSdkProvider(cut), request)).rejects.toMatchObject({ failure: { kind: "server-error", code: "stream-cut" } });
    expect(await infer(createAiSdkProvider(fakeModel([finish("error")])), request)).toMatchObject({
      stopReason: "other",
      rawStopReason: "error",
    });
  });

  it("a signal that fires is a cancellation, though the model ignores it, and closes the stream", async () => {
    const never = Promise.withResolvers<Part>();
    const model = fakeModel([{ type: "text-delta", id: "0", delta: "par" }, never.promise]);
    const controller = new AbortController();
    const events: string[] = [];
    const reading = (async () => {
      for await (const event of createAiSdkProvider(model).stream(request, { signal: controller.signal })) {
        events.push(event.type);
        if (event.type === "text-delta") controller.abort();
      }
    })();
    await expect(reading).rejects.toMatchObject({ failure: { kind: "cancelled" } });
    expect(events).toEqual(["text-start", "text-delta"]);
    expect(model.cancelled).toBe(true);
    expect((model.calls[0]?.["abortSignal"] as AbortSignal).aborted).toBe(true);
    await expect(infer(createAiSdkProvider(model), request, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      failure: { kind: "cancelled" },
    });
    expect(model.calls).toHaveLength(1);
  });

  it("a consumer who leaves closes the stream", async () => {
    const model = fakeModel([{ type: "text-delta", id: "0", delta: "a" }, { type: "text-delta", id: "0", delta: "b" }, finish()]);
    for await (const event of createAiSdkProvider(model).stream(request)) if (event.type === "text-delta") break;
    expect(model.cancelled).toBe(true);
  });
});

describe("what is no language model", () => {
  const wrong: readonly (readonly [given: unknown, problem: RegExp])[] = [
    [undefined, /of type undefined/],
    [null, /this is null/],
    ["claude-haiku-4-5", /the text "claude-haiku-4-5"/],
    [[], /a list/],
    [{}, /no doStream\(\)/],
    [Promise.resolve(fakeModel([])), /await it first/],
    [{ ...fakeModel([]), doStream: "yes" }, /no doStream\(\)/],
    [{ ...fakeModel([]), specificationVersion: undefined }, /no specificationVersion/],
    [{ ...fakeModel([]), specificationVersion: "v1" }, /version 1 of its interface/],
    [{ ...fakeModel([]), modelId: 3 }, /no modelId/],
    [{ specificationVersion: "v4", provider: "acme", modelId: "e", doEmbed() {} }, /an embedding model/],
    [{ specificationVersion: "v4", languageModel() {} }, /a whole provider/],
  ];

  it.each(wrong)("is refused when it is given, and says what it is: %#", (given, problem) => {
    expect(() => createAiSdkProvider(given as AiSdkModel)).toThrow(problem);
    expect(() => createAiSdkProvider(given as AiSdkModel)).toThrow(ModelError);
  });

  it("is refused where a function gives it, as a request that was never sent and would fail again", async () => {
    const error: unknown = await infer(
      createAiSdkProvider(() => ({}) as AiSdkModel),
      request,
    ).catch((thrown: unknown) => thrown);
    expect(ModelError.is(error) && error.failure).toMatchObject({ kind: "invalid-request", progress: "unsent" });
    expect(ModelError.is(error) && error.retryable).toBe(false);
  });

  it("and a mistake in the model's own code is not taken for trouble of the vendor's", async () => {
    const failing = (thrown: unknown): AiSdkModel => ({ ...fakeModel([]), doStream: () => Promise.reject(thrown) });
    const failureOf = async (thrown: unknown) => {
      const error: unknown = await infer(createAiSdkProvider(failing(thrown)), request).catch((caught: unknown) => caught);
      return ModelError.is(error) ? error.failure : error;
    };
    expect(await failureOf(new TypeError("this.client is not a function"))).toMatchObject({ kind: "other" });
    const refused = Object.assign(new Error("connect"), { code: "ECONNREFUSED", syscall: "connect" });
    expect(await failureOf(new TypeError("fetch failed", { cause: refused }))).toMatchObject({ kind: "server-error", progress: "unsent" });
    expect(await failureOf(new Error("socket hang up"))).toMatchObject({ kind: "server-error" });
  });
});
