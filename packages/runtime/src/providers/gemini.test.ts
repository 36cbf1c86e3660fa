import {
  type CallId,
  type Content,
  type InferRequest,
  type InferResponse,
  type JsonObject,
  type Message,
  ModelError,
  textMessage,
} from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { createGeminiProvider, type ProviderOptions } from "./gemini.ts";
import { infer, textOf } from "./infer.ts";

interface Sent {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: JsonObject;
}

/** A provider whose server responds with `body`, and what it was asked. */
function stub(body: string | JsonObject, options: ProviderOptions & { readonly status?: number } = {}) {
  const sent: Sent[] = [];
  const { status = 200, ...settings } = options;
  const provider = createGeminiProvider({
    apiKey: "key",
    ...settings,
    fetch: async (url, init) => {
      sent.push({
        url,
        headers: init.headers,
        body: init.body === undefined ? {} : (JSON.parse(Buffer.from(init.body).toString()) as JsonObject),
      });
      return new Response(typeof body === "string" ? body : JSON.stringify(body), { status });
    },
  });
  return { provider, sent };
}

const part = (...parts: readonly JsonObject[]): JsonObject => ({ content: { role: "model", parts } });
/** A stream as Google sends it: CRLF, one object an event. */
const events = (...chunks: readonly JsonObject[]): string => chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join("");
const chunkOf = (...parts: readonly JsonObject[]): JsonObject => ({ candidates: [{ ...part(...parts), finishReason: "STOP" }] });
const ask: InferRequest = { model: "gemini-2.5-flash", messages: [textMessage("user", "hi")] };
const read = (body: string | JsonObject, model = ask.model): Promise<InferResponse> => infer(stub(body).provider, { ...ask, model });

describe("responses of Gemini", () => {
  it("join the text of a stream, and keep a signature with the part it came in, even an empty one [PV-03]", async () => {
    const response = await read(
      events(
        { candidates: [part({ text: "Let me see.", thought: true })] },
        { candidates: [part({ text: "One" })] },
        { candidates: [part({ text: " two" })] },
        { candidates: [part({ text: " three", thoughtSignature: "s1" })] },
        { candidates: [part({ text: " four" })] },
        { candidates: [{ ...part({ text: "", thoughtSignature: "s2" }), finishReason: "STOP" }], modelVersion: "gemini-2.5-flash-001" },
      ),
    );
    const signed = (thoughtSignature: string): object => ({ wire: "gemini", model: "gemini-2.5-flash", thoughtSignature });
    expect(response.content).toEqual([
      { type: "thinking", text: "Let me see." },
      { type: "text", text: "One two" },
      { type: "text", text: " three", providerData: signed("s1") },
      { type: "text", text: " four" },
      { type: "text", text: "", providerData: signed("s2") },
    ]);
    expect([textOf(response), response.model]).toEqual(["One two three four", "gemini-2.5-flash-001"]);
  });

  it("give calls made-up ids where Google gives none, and end for tools though Google says STOP [PV-04]", async () => {
    const response = await read(
      events({
        candidates: [
          {
            ...part(
              { functionCall: { name: "look", args: { at: 1 } }, thoughtSignature: "s" },
              { functionCall: { name: "look" } },
              { functionCall: { id: "g1", name: "go", args: {} } },
            ),
            finishReason: "STOP",
          },
        ],
      }),
    );
    expect(response.stopReason).toBe("tool-use");
    expect(response.toolCalls.map(({ name, input }) => [name, input])).toEqual([
      ["look", { at: 1 }],
      ["look", {}],
      ["go", {}],
    ]);
    const [first, second, third] = response.content as Extract<Content, { type: "tool-call" }>[];
    expect(first?.id).toMatch(/^call_[0-9a-f]{32}$/);
    expect(second?.id).not.toBe(first?.id);
    expect(first?.providerData).toEqual({ wire: "gemini", model: "gemini-2.5-flash", thoughtSignature: "s" });
    expect(second?.providerData).toBeUndefined();
    expect([third?.id, third?.providerData]).toEqual(["g1", { wire: "gemini", id: "g1" }]);
  });

  it("read a call whose arguments Vertex streams in pieces, and run none that was cut", async () => {
    const pieces = (...calls: readonly JsonObject[]): JsonObject[] =>
      calls.map((functionCall) => ({ candidates: [part({ functionCall })] }));
    const whole = pieces(
      { name: "light", id: "v1", willContinue: true },
      { partialArgs: [{ jsonPath: "$.room", stringValue: "kit", willContinue: true }], willContinue: true },
      {
        partialArgs: [
          { jsonPath: "$.room", stringValue: "chen" },
          { jsonPath: "$.level", numberValue: 5 },
        ],
        willContinue: true,
      },
    );
    const finish = (finishReason: string): JsonObject => ({ candidates: [{ finishReason }] });
    const done = await read(events(...whole, ...pieces({}), finish("STOP")));
    expect(done.toolCalls).toEqual([
      { id: "v1", name: "light", input: { room: "kitchen", level: 5 }, inputText: '{"room":"kitchen","level":5}' },
    ]);
    const cut = await read(events(...whole, finish("MAX_TOKENS")));
    expect(cut).toMatchObject({ stopReason: "max-tokens", toolCalls: [{ name: "light", input: undefined }] });
  });

  it("keep what Google ran itself, media and what is new, each in its own part", async () => {
    const raw: JsonObject = { brandNew: { x: 1 } };
    const response = await read(
      chunkOf(
        { executableCode: { language: "PYTHON", code: "print(1)" } },
        { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1\n" } },
        { toolCall: { toolType: "GOOGLE_SEARCH_WEB", args: { queries: ["x"] }, id: "t1" }, thoughtSignature: "s" },
        { inlineData: { mimeType: "image/png", data: "AQID" }, thoughtSignature: "s3" },
        { fileData: { mimeType: "video/mp4", fileUri: "gs://b/v.mp4" } },
        { inlineData: { mimeType: "image/png", data: "BBBB" }, thought: true },
        raw,
        { text: "done" },
      ),
    );
    expect(response.toolCalls).toEqual([]);
    expect([textOf(response), response.stopReason]).toEqual(["done", "end-turn"]);
    expect(response.content.map((content) => [content.type, "text" in content ? content.text : undefined])).toEqual([
      ["server-tool", "print(1)"],
      ["server-tool", "1\n"],
      ["server-tool", '{"queries":["x"]}'],
      ["image", undefined],
      ["file", undefined],
      ["other", undefined],
      ["other", undefined],
      ["text", "done"],
    ]);
    expect(response.content[3]).toMatchObject({ mediaType: "image/png", data: "AQID", providerData: { thoughtSignature: "s3" } });
    expect(response.content[4]).toEqual({ type: "file", mediaType: "video/mp4", url: "gs://b/v.mp4" });
    expect(response.content[6]).toEqual({ type: "other", raw, providerData: { wire: "gemini" } });
    // All of it goes back as it came.
    const { provider, sent } = stub(chunkOf({ text: "ok" }));
    await infer(provider, {
      ...ask,
      messages: [...ask.messages, { role: "assistant", content: response.content }, textMessage("user", "go on")],
    });
    const contents = sent[0]?.body["contents"] as readonly { role: string; parts: readonly JsonObject[] }[];
    expect(contents[1]?.parts).toEqual([
      { executableCode: { language: "PYTHON", code: "print(1)" } },
      { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1\n" } },
      { toolCall: { toolType: "GOOGLE_SEARCH_WEB", args: { queries: ["x"] }, id: "t1" }, thoughtSignature: "s" },
      { inlineData: { mimeType: "image/png", data: "AQID" }, thoughtSignature: "s3" },
      { fileData: { mimeType: "video/mp4", fileUri: "gs://b/v.mp4" } },
      { inlineData: { mimeType: "image/png", data: "BBBB" }, thought: true },
      raw,
      { text: "done" },
    ]);
  });

  it.each([
    ["SAFETY", "content-filter"],
    ["MODEL_ARMOR", "content-filter"],
    ["MAX_TOKENS", "max-tokens"],
    ["MALFORMED_FUNCTION_CALL", "other"],
    ["SOMETHING_NEW", "other"],
    [3, "content-filter"],
    [2, "max-tokens"],
  ])("end with %s for %s, without any content [PV-04]", async (finishReason, stopReason) => {
    const response = await read(events({ candidates: [{ finishReason, safetyRatings: [] }] }));
    expect(response).toMatchObject({ stopReason, rawStopReason: String(finishReason), content: [] });
  });

  it("tell of a prompt that was blocked as a stop, with what Google said of it", async () => {
    const response = await read(events({ promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, usageMetadata: { promptTokenCount: 7 } }));
    expect(response).toMatchObject({
      stopReason: "content-filter",
      rawStopReason: "PROHIBITED_CONTENT",
      usage: { inputTokens: 7, outputTokens: 0 },
    });
    expect(response.providerData?.["promptFeedback"]).toEqual({ blockReason: "PROHIBITED_CONTENT" });
  });

  it("count tool prompts as input and thoughts as output, the last of repeated counts winning, and nothing where nothing was counted", async () => {
    const counted = await read(
      events(
        {
          candidates: [part({ text: "a" })],
          usageMetadata: { promptTokenCount: 145, candidatesTokenCount: 1, cachedContentTokenCount: 20 },
        },
        { candidates: [part({ text: "b" })], usageMetadata: { trafficType: "ON_DEMAND" } },
        {
          candidates: [{ finishReason: "STOP", groundingMetadata: { webSearchQueries: ["q"] } }],
          usageMetadata: { promptTokenCount: 85, toolUsePromptTokenCount: 10, candidatesTokenCount: 15, thoughtsTokenCount: 5 },
        },
      ),
    );
    expect(counted.usage).toEqual({
      inputTokens: 95,
      outputTokens: 20,
      cacheReadTokens: 20,
      cacheCreationTokens: null,
      reasoningTokens: 5,
    });
    expect(counted.providerData?.["groundingMetadata"]).toEqual({ webSearchQueries: ["q"] });
    const uncounted = await read({ ...chunkOf({ text: "a" }), usageMetadata: { trafficType: "ON_DEMAND" } });
    expect(uncounted.usage.inputTokens).toBeNull();
  });

  it("are read as an array that comes in pieces, each element when it is there", async () => {
    const first = Promise.withResolvers<void>();
    const provider = createGeminiProvider({
      apiKey: "k",
      fetch: async () =>
        new Response(
          new ReadableStream({
            async start(controller) {
              controller.enqueue(Buffer.from(`[${JSON.stringify({ candidates: [part({ text: "early" })] })}\n`));
              await first.promise;
              controller.enqueue(
                Buffer.from(`,\r\n${JSON.stringify({ candidates: [{ ...part({ text: " late" }), finishReason: "STOP" }] })}]`),
              );
              controller.close();
            },
          }),
        ),
    });
    let text = "";
    for await (const event of provider.stream(ask)) {
      if (event.type !== "text-delta") continue;
      text += event.text;
      first.resolve();
    }
    expect(text).toBe("early late");
  });

  it("ignore further candidates, and take one whole object without a finish reason", async () => {
    const both = {
      candidates: [
        { index: 1, ...part({ text: "no" }) },
        { index: 0, ...part({ text: "yes" }) },
      ],
    };
    const response = await read(both);
    expect([textOf(response), response.rawStopReason, response.stopReason]).toEqual(["yes", null, "end-turn"]);
  });

  it.each([
    ["a stream that ends early", events({ candidates: [part({ text: "a" })] }), { kind: "server-error", code: "stream-cut" }],
    [
      "an array that ends early",
      `[${JSON.stringify({ candidates: [part({ text: "a" })] })},{"candi`,
      { kind: "server-error", code: "stream-cut" },
    ],
    ["an object that is no response", { usageMetadata: {} }, { kind: "invalid-response" }],
    [
      "an error in the stream",
      events({ candidates: [part({ text: "a" })] }, { error: { code: 503, status: "UNAVAILABLE", message: "busy" } }),
      { kind: "server-error", code: "UNAVAILABLE" },
    ],
    [
      "an error in an array",
      [{ error: { code: 429, status: "RESOURCE_EXHAUSTED", message: "slow", details: [{ retryDelay: "1.5s" }] } }] as unknown as JsonObject,
      { kind: "rate-limit", retryAfterMs: 1500 },
    ],
  ])("%s is a failure [PV-09]", async (_name, body, failure) => {
    const error = await read(body).catch((caught: unknown) => caught);
    expect(ModelError.is(error) && error.failure).toMatchObject({ provider: "gemini", model: "gemini-2.5-flash", ...failure });
  });

  it.each([
    [400, { message: "API key not valid. Please pass a valid API key.", status: "INVALID_ARGUMENT" }, { kind: "authentication" }],
    [
      400,
      { message: "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).", status: "INVALID_ARGUMENT" },
      { kind: "context-overflow" },
    ],
    [403, { message: "denied", status: "PERMISSION_DENIED" }, { kind: "authentication", code: "PERMISSION_DENIED" }],
    [404, { message: "not found", status: "NOT_FOUND" }, { kind: "invalid-request" }],
    [
      429,
      { message: "quota", status: "RESOURCE_EXHAUSTED", details: [{ "@type": "x" }, { "@type": "y", "retryDelay": "34.4s" }] },
      { kind: "rate-limit", retryAfterMs: 34_400 },
    ],
    [500, { message: "internal", status: "INTERNAL" }, { kind: "server-error" }],
    [504, { message: "late", status: "DEADLINE_EXCEEDED" }, { kind: "server-error" }],
  ])("with status %i are failures by what Google says: %j [PV-09]", async (status, error, failure) => {
    const { provider } = stub({ error: { code: status, ...error } }, { status });
    const caught = await infer(provider, ask).catch((thrown: unknown) => thrown);
    expect(ModelError.is(caught) && caught.failure).toMatchObject({ status, ...failure });
  });
});

describe("requests to Gemini", () => {
  const sentFor = async (request: Partial<InferRequest>, options: ProviderOptions = {}): Promise<Sent> => {
    const { provider, sent } = stub(chunkOf({ text: "ok" }), options);
    await infer(provider, { ...ask, ...request });
    return sent[0] as Sent;
  };
  const config = async (request: Partial<InferRequest>): Promise<unknown> => (await sentFor(request)).body["generationConfig"];

  it.each([
    [{}, "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse"],
    [{ baseUrl: "http://localhost:1/" }, "http://localhost:1/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse"],
    [{ baseUrl: "http://localhost:1/v1alpha" }, "http://localhost:1/v1alpha/models/gemini-2.5-flash:streamGenerateContent?alt=sse"],
    [
      { baseUrl: "https://x/v1/projects/p/locations/l/publishers/google?k=v" },
      "https://x/v1/projects/p/locations/l/publishers/google/models/gemini-2.5-flash:streamGenerateContent?k=v&alt=sse",
    ],
  ])("go where %j says", async (options, url) => expect((await sentFor({}, options)).url).toBe(url));

  it("carry the key in a header of its own, the model in the path by any of its names, and need no key beside a token", async () => {
    const { headers, body } = await sentFor({});
    expect(headers).toMatchObject({ "x-goog-api-key": "key", "content-type": "application/json" });
    expect(body).toEqual({ contents: [{ role: "user", parts: [{ text: "hi" }] }] });
    expect((await sentFor({ model: "models/gemini-3-pro" })).url).toContain("/models/gemini-3-pro:");
    expect((await sentFor({ model: "tunedModels/mine" })).url).toContain("/v1beta/tunedModels/mine:");
    expect((await sentFor({}, { apiKey: "", headers: { Authorization: "Bearer t" } })).headers["authorization"]).toBe("Bearer t");
  });

  it("hold instructions, tools, choice and parameters; what `extra` says is merged into them", async () => {
    const { body } = await sentFor({
      system: "be brief",
      tools: [{ name: "look", description: "looks", inputSchema: { type: "object", properties: { at: { type: ["string", "null"] } } } }],
      toolChoice: { name: "look" },
      maxTokens: 9,
      temperature: 0.5,
      topP: 0.9,
      stopSequences: ["X"],
      extra: { tools: [{ googleSearch: {} }], safetySettings: [], generationConfig: { seed: 1 }, cachedContent: "cachedContents/x" },
    });
    expect(body).toEqual({
      systemInstruction: { parts: [{ text: "be brief" }] },
      contents: [{ role: "user", parts: [{ text: "hi" }] }],
      tools: [
        {
          functionDeclarations: [
            { name: "look", description: "looks", parameters: { type: "OBJECT", properties: { at: { type: "STRING", nullable: true } } } },
          ],
        },
        { googleSearch: {} },
      ],
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["look"] } },
      generationConfig: { maxOutputTokens: 9, temperature: 0.5, topP: 0.9, stopSequences: ["X"], seed: 1 },
      safetySettings: [],
      cachedContent: "cachedContents/x",
    });
    expect((await sentFor({ toolChoice: "required" })).body).not.toHaveProperty("toolConfig");
  });

  it.each<[string, Partial<InferRequest>, unknown]>([
    ["gemini-2.0-flash", { effort: "high", thinking: { type: "adaptive" } }, undefined],
    ["gemini-2.5-flash", {}, undefined],
    ["gemini-2.5-flash", { effort: "medium" }, { thinkingBudget: 8192 }],
    ["gemini-2.5-pro", { effort: "max" }, { thinkingBudget: 32_768 }],
    ["gemini-2.5-flash", { thinking: { type: "enabled", budgetTokens: 500 } }, { thinkingBudget: 500, includeThoughts: true }],
    ["gemini-2.5-flash", { thinking: { type: "adaptive" } }, { thinkingBudget: -1, includeThoughts: true }],
    ["gemini-2.5-flash", { thinking: { type: "disabled" } }, { thinkingBudget: 0 }],
    ["gemini-2.5-pro", { thinking: { type: "disabled" } }, { thinkingBudget: 128 }],
    ["gemini-3-pro-preview", { effort: "medium" }, { thinkingLevel: "high" }],
    ["gemini-3.1-pro", { effort: "medium" }, { thinkingLevel: "medium" }],
    ["gemini-3.5-flash", { thinking: { type: "disabled" } }, { thinkingLevel: "minimal" }],
    ["gemini-3-flash", { thinking: { type: "adaptive" }, effort: "low" }, { thinkingLevel: "low", includeThoughts: true }],
    ["gemini-3-flash", { thinking: { type: "adaptive" } }, { thinkingLevel: "high", includeThoughts: true }],
    ["gemma-3-27b-it", { effort: "high" }, undefined],
  ])("ask %s to think, given %j, by %j [AG-06, AG-07]", async (model, request, thinking) => {
    expect(((await config({ ...request, model })) as JsonObject | undefined)?.["thinkingConfig"]).toEqual(thinking);
  });

  it("ask for structured outputs natively, but in words where an older model is given functions too", async () => {
    const output = { name: "sum", schema: { type: "object", properties: { b: { type: "number" }, a: { type: "number" } } } };
    const responseSchema = { type: "OBJECT", properties: { b: { type: "NUMBER" }, a: { type: "NUMBER" } }, propertyOrdering: ["b", "a"] };
    const tools = [{ name: "look", description: "", inputSchema: { type: "object" } }];
    expect(await config({ output })).toEqual({ responseMimeType: "application/json", responseSchema });
    expect(await config({ output, tools, model: "gemini-3-pro" })).toEqual({ responseMimeType: "application/json", responseSchema });
    const { body } = await sentFor({ output, tools, system: "be brief" });
    expect(body["generationConfig"]).toBeUndefined();
    expect(JSON.stringify(body["systemInstruction"])).toMatch(/be brief.*JSON.*propertyOrdering/);
  });

  const call = (id: string, name = "look", providerData?: JsonObject): Content => ({
    type: "tool-call",
    id: id as CallId,
    name,
    input: { at: id },
    inputText: "",
    ...(providerData && { providerData: { wire: "gemini", ...providerData } }),
  });
  const contentsFor = async (messages: readonly Message[], model = ask.model): Promise<unknown> =>
    (await sentFor({ messages, model })).body["contents"];

  it("give results by place, apart from what else the user says, with media after them, and close calls without results", async () => {
    const image: Content = { type: "image", mediaType: "image/png", data: "AQID" };
    expect(
      await contentsFor([
        textMessage("user", "go"),
        { role: "assistant", content: [call("1", "look", { id: "g1" }), call("2"), call("3")] },
        {
          role: "tool",
          content: [
            { type: "tool-result", id: "2" as CallId, name: "look", output: "boom", isError: true },
            {
              type: "tool-result",
              id: "1" as CallId,
              name: "look",
              output: { type: "content", content: [{ type: "text", text: "seen" }, image] as unknown as JsonObject[] },
            },
          ],
        },
        textMessage("system", "mind the time"),
        textMessage("user", "and now?"),
      ]),
    ).toEqual([
      { role: "user", parts: [{ text: "go" }] },
      {
        role: "model",
        parts: [
          { functionCall: { id: "g1", name: "look", args: { at: "1" } } },
          { functionCall: { name: "look", args: { at: "2" } } },
          { functionCall: { name: "look", args: { at: "3" } } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { id: "g1", name: "look", response: { output: expect.stringContaining("seen") } } },
          { functionResponse: { name: "look", response: { error: "boom" } } },
          { functionResponse: { name: "look", response: { error: "This call was not executed." } } },
        ],
      },
      {
        role: "user",
        parts: [
          { text: "From the result of look:" },
          { inlineData: { mimeType: "image/png", data: "AQID" } },
          { text: "<system-reminder>\nmind the time\n</system-reminder>" },
          { text: "and now?" },
        ],
      },
    ]);
  });

  it("send signatures back to the model that gave them only, and give Gemini 3 the stand-in that it wants for foreign calls", async () => {
    const turn = (model: string): Message[] => [
      {
        role: "assistant",
        content: [
          { type: "thinking", text: "hm", providerData: { wire: "gemini", model, thoughtSignature: "t" } },
          { type: "thinking", text: "unsigned" },
          { type: "thinking", text: "foreign", providerData: { wire: "anthropic-messages", signature: "x" } },
          call("1", "look", { model, thoughtSignature: "c" }),
          call("2"),
        ],
      },
    ];
    const parts = async (from: string, to: string): Promise<unknown> =>
      ((await contentsFor(turn(from), to)) as { role: string; parts: unknown }[])[1]?.parts;
    const calls = [{ functionCall: { name: "look", args: { at: "1" } } }, { functionCall: { name: "look", args: { at: "2" } } }];
    expect(await parts("gemini-3-pro", "gemini-3-pro")).toEqual([
      { text: "hm", thought: true, thoughtSignature: "t" },
      { ...calls[0], thoughtSignature: "c" },
      calls[1],
    ]);
    expect(await parts("gemini-3-pro", "gemini-2.5-flash")).toEqual(calls);
    expect(await parts("gemini-2.5-flash", "gemini-3-pro")).toEqual([
      { ...calls[0], thoughtSignature: "skip_thought_signature_validator" },
      calls[1],
    ]);
  });

  it("begin with the user, since the API wants calls right after him", async () => {
    const contents = (await contentsFor([{ role: "assistant", content: [call("1")] }])) as { role: string }[];
    expect(contents.map(({ role }) => role)).toEqual(["user", "model", "user"]);
  });

  it("show files as bytes, addresses, text, or what Google's own storage calls them", async () => {
    const data = Buffer.from("a,b").toString("base64");
    const content: Content[] = [
      { type: "file", mediaType: "application/pdf", data: "JVBE" },
      { type: "image", mediaType: "image/png", url: "https://x/i.png" },
      { type: "file", mediaType: "text/csv", name: "t.csv", data },
      { type: "file", mediaType: "video/mp4", providerData: { wire: "gemini", fileUri: "https://g/files/1" } },
    ];
    expect(await contentsFor([{ role: "user", content }])).toEqual([
      {
        role: "user",
        parts: [
          { inlineData: { mimeType: "application/pdf", data: "JVBE" } },
          { fileData: { mimeType: "image/png", fileUri: "https://x/i.png" } },
          { text: "t.csv:\na,b" },
          { fileData: { mimeType: "video/mp4", fileUri: "https://g/files/1" } },
        ],
      },
    ]);
  });

  it("keep the bytes of a conversation, and say the same as when it is encoded at once", async () => {
    const { provider, sent } = stub(chunkOf({ text: "ok" }));
    const conversation = {};
    const messages: Message[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      messages.push(textMessage("user", `question ${turn}`), { role: "assistant", content: [call(`${turn}`)] });
      messages.push({ role: "tool", content: [{ type: "tool-result", id: `${turn}` as CallId, name: "look", output: turn }] });
      await infer(provider, { ...ask, messages: [...messages] }, { conversation });
      expect(sent.at(-1)?.body["contents"]).toEqual(await contentsFor(messages));
      messages.push(textMessage("assistant", `answer ${turn}`));
    }
  });
});

describe("the list of Gemini's models", () => {
  it("is read page by page, with what each model can do", async () => {
    const pages: JsonObject[] = [
      {
        models: [
          {
            name: "models/gemini-2.5-pro",
            displayName: "Gemini 2.5 Pro",
            description: "d",
            inputTokenLimit: 1_048_576,
            outputTokenLimit: 65_536,
            supportedGenerationMethods: ["generateContent", "countTokens"],
            thinking: true,
          },
        ],
        nextPageToken: "p2",
      },
      { models: [{ name: "models/gemini-embedding-001", supportedGenerationMethods: ["embedContent"] }] },
    ];
    const urls: string[] = [];
    const provider = createGeminiProvider({
      apiKey: "k",
      fetch: async (url) => {
        urls.push(url);
        return Response.json(pages[urls.length - 1]);
      },
    });
    const models = await provider.listModels?.();
    expect(urls.map((url) => url.slice(url.indexOf("?")))).toEqual(["?pageSize=1000", "?pageSize=1000&pageToken=p2"]);
    expect(models).toEqual([
      {
        id: "gemini-2.5-pro",
        displayName: "Gemini 2.5 Pro",
        description: "d",
        capabilities: { toolCalling: true, vision: true, streaming: true, structuredOutput: true, effortLevels: true },
        contextWindow: 1_048_576,
        maxOutputTokens: 65_536,
        supportedEffortLevels: ["low", "medium", "high"],
      },
      expect.objectContaining({
        id: "gemini-embedding-001",
        capabilities: expect.objectContaining({ toolCalling: false, streaming: false }),
      }),
    ]);
  });

  it("says what to do when there is no key", async () => {
    const before = process.env["GEMINI_API_KEY"];
    delete process.env["GEMINI_API_KEY"];
    try {
      await expect(createGeminiProvider().listModels?.()).rejects.toThrow(/set GEMINI_API_KEY or pass apiKey/);
    } finally {
      if (before !== undefined) process.env["GEMINI_API_KEY"] = before;
    }
  });
});
