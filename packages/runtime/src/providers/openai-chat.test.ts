import { type CallId, type Content, type InferRequest, type JsonObject, type Message, textMessage } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { infer, textOf } from "./infer.ts";
import { createOpenAiChatProvider, type OpenAiChatOptions } from "./openai-chat.ts";

const whole = {
  id: "chatcmpl-1",
  model: "gpt-x-2026",
  choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
};

interface Sent {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: JsonObject;
}

function stub(
  response: JsonObject | string = whole,
  options: OpenAiChatOptions = {},
): { sent: Sent[]; provider: ReturnType<typeof createOpenAiChatProvider> } {
  const sent: Sent[] = [];
  const provider = createOpenAiChatProvider({
    apiKey: "secret",
    fetch: async (url, { headers, body }) => {
      sent.push({ url, headers, body: body === undefined ? {} : (JSON.parse(Buffer.from(body).toString()) as JsonObject) });
      return new Response(typeof response === "string" ? response : JSON.stringify(response));
    },
    ...options,
  });
  return { sent, provider };
}

async function bodyOf(request: Partial<InferRequest>): Promise<JsonObject> {
  const { sent, provider } = stub();
  await infer(provider, { model: "gpt-x", messages: [textMessage("user", "hi")], ...request });
  return sent[0]?.body as JsonObject;
}

const responseTo = (response: JsonObject | string, request: Partial<InferRequest> = {}): ReturnType<typeof infer> =>
  infer(stub(response).provider, { model: "gpt-x", messages: [textMessage("user", "hi")], ...request });
const chunks = (...list: readonly JsonObject[]): string =>
  `${list.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`;
const delta = (fields: JsonObject, finish: string | null = null, index = 0): JsonObject => ({
  id: "c",
  model: "gpt-x",
  choices: [{ index, delta: fields, finish_reason: finish }],
});

describe("a request", () => {
  it("goes to /chat/completions as a bearer and asks for usage [PV-07]", async () => {
    const { sent, provider } = stub();
    await infer(provider, { model: "gpt-x", messages: [textMessage("user", "hi")], system: "be good" });
    expect(sent[0]?.url).toBe("https://api.openai.com/v1/chat/completions");
    expect(sent[0]?.headers).toMatchObject({ "authorization": "Bearer secret", "content-type": "application/json" });
    expect(sent[0]?.body).toEqual({
      model: "gpt-x",
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: "system", content: "be good" },
        { role: "user", content: "hi" },
      ],
    });
  });

  it("takes Azure's addresses and keys, and needs no key of a server of one's own [PV-07]", async () => {
    const azure = stub(whole, { baseUrl: "https://x.openai.azure.com/openai/deployments/d?api-version=2025-01-01" });
    await infer(azure.provider, { model: "m", messages: [textMessage("user", "hi")] });
    expect(azure.sent[0]).toMatchObject({
      url: "https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=2025-01-01",
      headers: { "api-key": "secret" },
    });
    expect(azure.sent[0]?.headers).not.toHaveProperty("authorization");
    const local = stub(whole, { baseUrl: "http://localhost:1/v1/", apiKey: "" });
    await infer(local.provider, { model: "m", messages: [textMessage("user", "hi")] });
    expect(local.sent[0]).toMatchObject({ url: "http://localhost:1/v1/chat/completions" });
    expect(local.sent[0]?.headers).not.toHaveProperty("authorization");
    await expect(infer(createOpenAiChatProvider({ apiKey: "" }), { model: "m", messages: [textMessage("user", "hi")] })).rejects.toThrow(
      "OPENAI_API_KEY",
    );
  });

  it("carries every option, and extra as it is [PV-02, AG-06, AG-07]", async () => {
    const strict = { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false };
    const body = await bodyOf({
      maxTokens: 50,
      temperature: 0.5,
      topP: 0.9,
      stopSequences: ["END"],
      effort: "high",
      toolChoice: { name: "look" },
      tools: [{ name: "look", description: "Looks.", inputSchema: { type: "object" } }],
      output: { name: "answer", schema: strict },
      extra: { tools: [{ type: "custom", custom: { name: "free" } }], seed: 7, stream_options: { x: 1 } },
    });
    expect(body).toMatchObject({
      max_completion_tokens: 50,
      temperature: 0.5,
      top_p: 0.9,
      stop: ["END"],
      reasoning_effort: "high",
      seed: 7,
      stream_options: { include_usage: true, x: 1 },
      tool_choice: { type: "function", function: { name: "look" } },
      tools: [
        { type: "function", function: { name: "look", description: "Looks.", parameters: { type: "object" } } },
        { type: "custom", custom: { name: "free" } },
      ],
      response_format: { type: "json_schema", json_schema: { name: "answer", schema: strict, strict: true } },
    });
    expect(await bodyOf({ output: { name: "answer", schema: { type: "object", properties: { a: {} } } } })).toMatchObject({
      response_format: { json_schema: { strict: false } },
    });
    expect((await bodyOf({ effort: "max", model: "gpt-5.4" }))["reasoning_effort"]).toBe("xhigh");
    expect((await bodyOf({ effort: "max", model: "o3" }))["reasoning_effort"]).toBe("high");
    expect((await bodyOf({ thinking: { type: "disabled" }, model: "gpt-5.1" }))["reasoning_effort"]).toBe("none");
    const old = stub(whole, { maxTokensField: "max_tokens" });
    await infer(old.provider, { model: "m", messages: [textMessage("user", "hi")], maxTokens: 9 });
    expect(old.sent[0]?.body).toMatchObject({ max_tokens: 9 });
  });

  it("sends calls and results under the vendor's ids, results right after their calls, orphans closed, images in a message of their own", async () => {
    const call = (id: string, more: JsonObject = {}): Content => ({
      type: "tool-call",
      id: id as CallId,
      name: "look",
      input: { a: 1 },
      inputText: '{ "a": 1 }',
      ...more,
    });
    const messages: Message[] = [
      textMessage("user", "go"),
      {
        role: "assistant",
        content: [
          { type: "thinking", text: "hm" },
          { type: "text", text: "I look" },
          call("c_1", { providerData: { wire: "openai-chat", id: "call_1" } }),
          call("c_2", { input: undefined, inputText: "{cut" }),
          {
            type: "tool-call",
            id: "c_3" as CallId,
            name: "free",
            input: "text",
            inputText: "text",
            custom: true,
            providerData: { wire: "openai-chat" },
          },
          call("c_4", { input: { a: 2 } }),
        ],
      },
      textMessage("system", "be quick"),
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            id: "c_1" as CallId,
            name: "look",
            output: {
              type: "content",
              content: [
                { type: "text", text: "see" },
                { type: "image", mediaType: "image/png", data: "QQ==" },
              ],
            },
          },
        ],
      },
    ];
    expect((await bodyOf({ messages }))["messages"]).toEqual([
      { role: "user", content: "go" },
      {
        role: "assistant",
        content: "I look",
        tool_calls: [
          // The model's own spelling, since the vendor's cache knows that; what does not parse, or was repaired, is sent as what is meant.
          { id: "call_1", type: "function", function: { name: "look", arguments: '{ "a": 1 }' } },
          { id: "c_2", type: "function", function: { name: "look", arguments: "{}" } },
          { id: "c_3", type: "custom", custom: { name: "free", input: "text" } },
          { id: "c_4", type: "function", function: { name: "look", arguments: '{"a":2}' } },
        ],
      },
      { role: "tool", tool_call_id: "call_1", content: "see\n[image]" },
      { role: "tool", tool_call_id: "c_2", content: "This call was not executed." },
      { role: "tool", tool_call_id: "c_3", content: "This call was not executed." },
      { role: "tool", tool_call_id: "c_4", content: "This call was not executed." },
      {
        role: "user",
        content: [
          { type: "text", text: "From the result of look:" },
          { type: "image_url", image_url: { url: "data:image/png;base64,QQ==" } },
        ],
      },
      { role: "system", content: "be quick" },
    ]);
  });

  it("encodes images, files and audio, refusals, and audio that is answered by its id", async () => {
    const content: Content[] = [
      { type: "text", text: "see" },
      { type: "image", mediaType: "image/png", url: "https://x/y.png" },
      { type: "file", mediaType: "application/pdf", name: "a.pdf", data: "QQ==" },
      { type: "file", mediaType: "text/plain", name: "a.txt", data: Buffer.from("ä").toString("base64") },
      { type: "file", mediaType: "audio/mpeg", data: "QQ==" },
    ];
    const assistant: Message = {
      role: "assistant",
      content: [
        { type: "refusal", text: "no" },
        { type: "file", mediaType: "audio/wav", data: "", providerData: { wire: "openai-chat", audio: "audio_1" } },
      ],
    };
    expect((await bodyOf({ messages: [{ role: "user", content }, assistant, textMessage("user", "so?")] }))["messages"]).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "see" },
          { type: "image_url", image_url: { url: "https://x/y.png" } },
          { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,QQ==" } },
          { type: "text", text: "a.txt:\nä" },
          { type: "input_audio", input_audio: { data: "QQ==", format: "mp3" } },
        ],
      },
      { role: "assistant", content: null, refusal: "no", audio: { id: "audio_1" } },
      { role: "user", content: "so?" },
    ]);
  });
});

describe("an answer", () => {
  it.each([
    ["stop", "end-turn"],
    ["length", "max-tokens"],
    ["tool_calls", "tool-use"],
    ["function_call", "tool-use"],
    ["content_filter", "content-filter"],
    ["eos", "end-turn"],
    ["odd", "other"],
  ])("that finishes with %s has the stop reason %s [PV-04]", async (raw, expected) => {
    const response = await responseTo(chunks(delta({ content: "x" }), delta({}, raw)));
    expect([response.stopReason, response.rawStopReason]).toEqual([expected, raw]);
  });

  it("has calls by its content, not by its finish reason, and keeps the stop at its length", async () => {
    const call = { tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "f", arguments: '{"x"' } }] };
    expect(
      (await responseTo(chunks(delta(call), delta({ tool_calls: [{ index: 0, function: { arguments: ":1}" } }] }), delta({}, "stop"))))
        .stopReason,
    ).toBe("tool-use");
    const cut = await responseTo(chunks(delta(call), delta({}, "length")));
    expect([cut.stopReason, cut.toolCalls]).toEqual(["max-tokens", [{ id: "a", name: "f", input: undefined, inputText: '{"x"' }]]);
  });

  it("tells fragments of calls apart by index, else by id; a new id at a known index is a new call [EV-02]", async () => {
    const fragment = (fields: JsonObject): JsonObject => delta({ tool_calls: [fields] });
    const byIndex = await responseTo(
      chunks(
        fragment({ index: 1, id: "b", function: { name: "g", arguments: "{" } }),
        fragment({ index: 0, id: "a", function: { name: "f", arguments: "" } }),
        fragment({ index: 1, function: { arguments: "}" } }),
        fragment({ index: 1, id: "c", function: { name: "h", arguments: "null" } }),
      ),
    );
    expect(byIndex.toolCalls).toEqual([
      { id: "b", name: "g", input: {}, inputText: "{}" },
      { id: "a", name: "f", input: {}, inputText: "" },
      { id: "c", name: "h", input: {}, inputText: "null" },
    ]);
    const byId = await responseTo(
      chunks(
        fragment({ id: "a", function: { name: "f", arguments: '{"n":' } }),
        fragment({ id: "a", function: { name: "f", arguments: "1}" } }),
        fragment({ id: "b", function: { name: "f", arguments: { n: 2 } } }),
      ),
    );
    expect(byId.toolCalls.map(({ id, input }) => [id, input])).toEqual([
      ["a", { n: 1 }],
      ["b", { n: 2 }],
    ]);
    const made = await responseTo(
      chunks(fragment({ index: 0, function: { arguments: '{"late' } }), fragment({ index: 0, function: { name: "f", arguments: '":1}' } })),
    );
    expect(made.toolCalls).toEqual([
      { id: expect.stringMatching(/^call_[0-9a-f]{32}$/), name: "f", input: { late: 1 }, inputText: '{"late":1}' },
    ]);
    expect(made.content[0]).not.toHaveProperty("providerData");
  });

  it("ignores other choices by their index, chunks without choices, and the cumulative message", async () => {
    const response = await responseTo(
      chunks(
        { choices: [], prompt_filter_results: [] },
        delta({ content: "second" }, null, 1),
        { choices: [{ index: 0, delta: { content: "a" }, message: { content: "a" } }] },
        { choices: [{ index: 0, delta: { content: "b" }, message: { content: "ab" } }] },
        { choices: [{ finish_reason: "content_filter", index: 0 }] },
      ),
    );
    expect([textOf(response), response.rawStopReason]).toEqual(["ab", "content_filter"]);
  });

  it("has thinking from whatever field it comes in, once, and content of parts", async () => {
    const response = await responseTo(
      chunks(
        delta({ reasoning_content: "why", reasoning: "why", content: "" }),
        delta({ reasoning: " so" }),
        delta({
          content: [
            { type: "thinking", thinking: [{ type: "text", text: " on" }] },
            { type: "text", text: "a" },
          ],
        }),
        delta({ content: "b" }, "stop"),
      ),
    );
    expect(response.content).toEqual([
      { type: "thinking", text: "why so on" },
      { type: "text", text: "ab" },
    ]);
  });

  it("has a refusal as a part of its own, audio and images as parts, and raises a legacy function call [PV-03]", async () => {
    const refused = await responseTo(chunks(delta({ content: null, refusal: "I " }), delta({ refusal: "won't" }), delta({}, "stop")));
    expect([textOf(refused), refused.content]).toEqual(["", [{ type: "refusal", text: "I won't" }]]);
    const media = await responseTo(
      chunks(
        delta({ audio: { id: "au", data: "QUI=", transcript: "a" } }),
        delta({
          audio: { data: "Qw==", transcript: "b" },
          images: [{ type: "image_url", image_url: { url: "data:image/png;base64,QQ==" } }],
        }),
        delta({}, "stop"),
      ),
      { extra: { audio: { format: "mp3" } } },
    );
    expect(media.content).toEqual([
      { type: "image", mediaType: "image/png", data: "QQ==" },
      { type: "file", mediaType: "audio/mp3", data: "QUJD", providerData: { wire: "openai-chat", audio: "au", transcript: "ab" } },
    ]);
    const legacy = await responseTo(
      chunks(
        delta({ function_call: { name: "f", arguments: "{" } }),
        delta({ function_call: { arguments: "}" } }),
        delta({}, "function_call"),
      ),
    );
    expect([legacy.stopReason, legacy.toolCalls]).toMatchObject(["tool-use", [{ name: "f", input: {} }]]);
    const back = await bodyOf({
      messages: [
        { role: "assistant", content: legacy.content },
        { role: "tool", content: [{ type: "tool-result", id: legacy.toolCalls[0]?.id as CallId, name: "f", output: "out" }] },
      ],
    });
    expect(back["messages"]).toEqual([
      { role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } },
      { role: "function", name: "f", content: "out" },
    ]);
    expect((await responseTo(chunks(delta({ content: "x", function_call: { name: "" } }), delta({}, "stop")))).toolCalls).toEqual([]);
  });

  it("takes usage from where it comes last, raised to the total, unknown when it never comes [PV-04]", async () => {
    const usage = async (...list: readonly JsonObject[]): Promise<unknown> =>
      (await responseTo(chunks(delta({ content: "x" }, "stop"), ...list))).usage;
    expect(
      await usage({
        choices: [],
        usage: {
          prompt_tokens: 10,
          completion_tokens: 5,
          total_tokens: 22,
          prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 3 },
          completion_tokens_details: { reasoning_tokens: 7 },
        },
      }),
    ).toEqual({ inputTokens: 10, outputTokens: 12, cacheReadTokens: 4, cacheCreationTokens: 3, reasoningTokens: 7 });
    expect(
      await usage(
        { choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } },
        { choices: [], x_groq: { usage: { prompt_tokens: 8, completion_tokens: 2, prompt_cache_hit_tokens: 5 } } },
      ),
    ).toMatchObject({ inputTokens: 8, outputTokens: 2, cacheReadTokens: 5 });
    expect(await usage()).toEqual({
      inputTokens: null,
      outputTokens: null,
      cacheReadTokens: null,
      cacheCreationTokens: null,
      reasoningTokens: null,
    });
  });

  it("raises an error beside choices, by its own code, but lets a turn that was cut off stand", async () => {
    await expect(
      responseTo(
        chunks(delta({ content: "x" }), {
          error: { message: "gone", code: 502 },
          choices: [{ index: 0, delta: { content: "" }, finish_reason: "error" }],
        }),
      ),
    ).rejects.toMatchObject({ failure: { kind: "server-error", code: "502" } });
    await expect(responseTo({ error: { message: "slow", code: "rate_limit_exceeded" } })).rejects.toMatchObject({
      failure: { kind: "rate-limit" },
    });
    expect((await responseTo(chunks(delta({ content: "x" }, "length"), { error: { message: "gone", code: 502 } }))).stopReason).toBe(
      "max-tokens",
    );
  });

  it("tells what the listed models can do, as far as their names say", async () => {
    const { provider } = stub({ object: "list", data: [{ id: "gpt-5-mini" }, { id: "text-embedding-3" }] });
    expect(await provider.listModels?.()).toMatchObject([
      { id: "gpt-5-mini", capabilities: { toolCalling: true, effortLevels: true }, supportedEffortLevels: ["low", "medium", "high"] },
      { id: "text-embedding-3", capabilities: { toolCalling: false } },
    ]);
  });
});
