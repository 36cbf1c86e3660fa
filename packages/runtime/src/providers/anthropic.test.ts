import {
  type CallId,
  type Content,
  type InferEvent,
  type InferRequest,
  type JsonObject,
  type Message,
  ModelError,
  textMessage,
} from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { type AnthropicOptions, createAnthropicProvider } from "./anthropic.ts";
import { infer } from "./infer.ts";

interface Sent {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: JsonObject;
}

const whole = {
  id: "msg_1",
  type: "message",
  model: "claude-x-20260101",
  content: [{ type: "text", text: "ok" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 1 },
};

function stub(
  response: JsonObject | string = whole,
  options: AnthropicOptions = {},
): { sent: Sent[]; provider: ReturnType<typeof createAnthropicProvider> } {
  const sent: Sent[] = [];
  const provider = createAnthropicProvider({
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
  await infer(provider, { model: "claude-x", messages: [textMessage("user", "hi")], ...request });
  return sent[0]?.body as JsonObject;
}

async function responseTo(response: JsonObject | string): ReturnType<typeof infer> {
  return infer(stub(response).provider, { model: "claude-x", messages: [textMessage("user", "hi")] });
}

const mark = { type: "ephemeral" };
const call = (id: string, more: Partial<Extract<Content, { type: "tool-call" }>> = {}): Content => ({
  type: "tool-call",
  id: id as CallId,
  name: "look",
  input: { a: 1 },
  inputText: '{"a":1}',
  ...more,
});
const result = (id: string, output: string | JsonObject = "found", more: JsonObject = {}): Message => ({
  role: "tool",
  content: [{ type: "tool-result", id: id as CallId, name: "look", output, ...more }],
});

describe("a request", () => {
  it("goes to /v1/messages with key and version, and by default to Haiku with 4096 tokens [PV-05]", async () => {
    const { sent, provider } = stub();
    await infer(provider, { model: "", messages: [textMessage("user", "hi")] });
    expect(sent[0]?.url).toBe("https://api.anthropic.com/v1/messages");
    expect(sent[0]?.headers).toMatchObject({
      "x-api-key": "secret",
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
    });
    expect(sent[0]?.body).toEqual({
      model: "claude-haiku-4-5-20251001",
      max_tokens: 4096,
      stream: true,
      messages: [{ role: "user", content: [{ type: "text", text: "hi", cache_control: mark }] }],
    });
  });

  it.each([
    ["http://proxy:1", "http://proxy:1/v1/messages"],
    ["http://proxy:1/", "http://proxy:1/v1/messages"],
    ["http://proxy:1/v1", "http://proxy:1/v1/messages"],
    ["http://proxy:1/a/v1/?key=x", "http://proxy:1/a/v1/messages?key=x"],
  ])("goes from the base URL %s to %s [PV-05]", async (baseUrl, url) => {
    const { sent, provider } = stub(whole, { baseUrl });
    await infer(provider, { model: "m", messages: [textMessage("user", "hi")] });
    expect(sent[0]?.url).toBe(url);
  });

  it("takes the key from a function or the environment, and says so when there is none [PV-05]", async () => {
    const { sent, provider } = stub(whole, {
      apiKey: async () => "fresh\n",
      headers: { "X-Extra": "1", "anthropic-version": "newer" },
      betas: ["a", "b"],
    });
    await infer(provider, { model: "m", messages: [textMessage("user", "hi")] });
    expect(sent[0]?.headers).toMatchObject({ "x-api-key": "fresh", "x-extra": "1", "anthropic-version": "newer", "anthropic-beta": "a,b" });
    const missing: unknown = await infer(createAnthropicProvider({ apiKey: "" }), {
      model: "m",
      messages: [textMessage("user", "hi")],
    }).catch((error: unknown) => error);
    expect(ModelError.is(missing, "authentication") && missing.failure.message).toContain("ANTHROPIC_API_KEY");
    const failing = createAnthropicProvider({
      apiKey: () => {
        throw new Error("vault is shut");
      },
    });
    await expect(infer(failing, { model: "m", messages: [textMessage("user", "hi")] })).rejects.toThrow("vault is shut");
  });

  it("carries every option, and extra as it is [PV-02, AG-06, AG-07]", async () => {
    const body = await bodyOf({
      maxTokens: 50,
      temperature: 0.5,
      topP: 0.9,
      stopSequences: ["END"],
      effort: "high",
      thinking: { type: "enabled", budgetTokens: 1024 },
      toolChoice: "required",
      tools: [{ name: "look", description: "Looks.", inputSchema: { type: "object" } }],
      output: { name: "answer", schema: { type: "object", properties: {} } },
      extra: {
        tools: [{ type: "web_search_20250305", name: "web_search" }],
        metadata: { user_id: "u" },
        output_config: { speed: "fast" },
        temperature: 1,
      },
    });
    expect(body).toMatchObject({
      max_tokens: 50,
      temperature: 1,
      top_p: 0.9,
      stop_sequences: ["END"],
      thinking: { type: "enabled", budget_tokens: 1024 },
      tool_choice: { type: "any" },
      metadata: { user_id: "u" },
      output_config: { effort: "high", format: { type: "json_schema", schema: { type: "object", properties: {} } }, speed: "fast" },
      tools: [
        { name: "look", description: "Looks.", input_schema: { type: "object" } },
        { type: "web_search_20250305", name: "web_search" },
      ],
    });
    expect((await bodyOf({ thinking: { type: "enabled", budgetTokens: 2000 } }))["max_tokens"]).toBe(6096);
    expect((await bodyOf({ thinking: { type: "adaptive" } }))["thinking"]).toEqual({ type: "adaptive" });
    expect(await bodyOf({ toolChoice: { name: "look" } })).not.toHaveProperty("tool_choice");
    expect(await bodyOf({ toolChoice: { name: "look" }, tools: [{ name: "look", description: "", inputSchema: {} }] })).toMatchObject({
      tool_choice: { type: "tool", name: "look" },
    });
  });

  it("marks the stable prefix and the last two user turns for the cache, and nothing when asked not to", async () => {
    const messages = [
      textMessage("user", "one"),
      textMessage("assistant", "two"),
      textMessage("user", "three"),
      textMessage("assistant", "four"),
      textMessage("user", "five"),
    ];
    const tools = [
      { name: "a", description: "", inputSchema: {} },
      { name: "b", description: "", inputSchema: {} },
    ];
    const marked = await bodyOf({ messages, tools, system: "be good" });
    expect(marked["system"]).toEqual([{ type: "text", text: "be good", cache_control: mark }]);
    expect(JSON.stringify(marked).match(/cache_control/g)).toHaveLength(3);
    expect((marked["messages"] as JsonObject[]).map((message) => JSON.stringify(message).includes("cache_control"))).toEqual([
      false,
      false,
      true,
      false,
      true,
    ]);
    const unmarked = await bodyOf({ messages, tools, system: "be good", cache: "none" });
    expect(JSON.stringify(unmarked)).not.toContain("cache_control");
    expect((await bodyOf({ tools }))["tools"]).toMatchObject([{ name: "a" }, { name: "b", cache_control: mark }]);
  });

  it("sends calls and results under the vendor's ids, results in one message and first, orphans closed", async () => {
    const messages: Message[] = [
      textMessage("user", "go"),
      {
        role: "assistant",
        content: [
          { type: "text", text: "  " },
          call("c_1", { providerData: { wire: "anthropic-messages", id: "toolu_1" } }),
          call("c_2", { providerData: { wire: "openai-chat", id: "call_2" }, inputText: "[1]", input: [1] }),
          call("c_3"),
        ],
      },
      result("c_2", { x: 1 }, { isError: true }),
      textMessage("user", "and hurry"),
      result("c_9", "of long ago"),
      result("c_1", {
        type: "content",
        content: [
          { type: "text", text: "see" },
          { type: "image", mediaType: "image/png", data: "QQ==" },
        ],
      }),
    ];
    expect((await bodyOf({ messages, cache: "none" }))["messages"]).toEqual([
      { role: "user", content: [{ type: "text", text: "go" }] },
      {
        role: "assistant",
        content: [
          { type: "tool_use", id: "toolu_1", name: "look", input: { a: 1 } },
          { type: "tool_use", id: "c_2", name: "look", input: { input: [1] } },
          { type: "tool_use", id: "c_3", name: "look", input: { a: 1 } },
        ],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "toolu_1",
            content: [
              { type: "text", text: "see" },
              { type: "image", source: { type: "base64", media_type: "image/png", data: "QQ==" } },
            ],
          },
          { type: "tool_result", tool_use_id: "c_2", content: '{"x":1}', is_error: true },
          { type: "tool_result", tool_use_id: "c_3", content: "This call was not executed.", is_error: true },
          { type: "text", text: "Result of an earlier call of look: of long ago" },
          { type: "text", text: "and hurry" },
        ],
      },
    ]);
  });

  it("sends thinking back to the model that signed it, and drops all other thinking", async () => {
    const thinking = (data: JsonObject | undefined): Content => ({
      type: "thinking",
      text: "hm",
      ...(data && { providerData: data as never }),
    });
    const own = { wire: "anthropic-messages", model: "claude-x" };
    const content: Content[] = [
      thinking({ ...own, signature: "s" }),
      thinking({ ...own, redacted: "data" }),
      thinking({ ...own, model: "claude-y", signature: "s" }),
      thinking({ wire: "gemini", signature: "s" }),
      thinking(undefined),
      thinking(own),
      { type: "text", text: "done", providerData: { wire: "anthropic-messages", citations: [{ type: "c" }] } },
      {
        type: "server-tool",
        name: "web",
        text: "found",
        providerData: { wire: "anthropic-messages", block: { type: "server_tool_use", id: "s" } },
      },
      { type: "server-tool", name: "web", text: "found", providerData: { wire: "openai-responses" } },
      { type: "other", raw: { type: "compaction", content: "c" }, providerData: { wire: "anthropic-messages" } },
      { type: "refusal", text: "no" },
    ];
    const body = await bodyOf({ messages: [textMessage("user", "q"), { role: "assistant", content }, textMessage("user", "q")] });
    expect((body["messages"] as JsonObject[])[1]).toEqual({
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hm", signature: "s" },
        { type: "redacted_thinking", data: "data" },
        { type: "text", text: "done", citations: [{ type: "c" }] },
        { type: "server_tool_use", id: "s" },
        { type: "text", text: "[web] found" },
        { type: "compaction", content: "c" },
        { type: "text", text: "no" },
      ],
    });
  });

  it("encodes images and files, and refuses what still names a blob", async () => {
    const content: Content[] = [
      { type: "image", mediaType: "image/png", url: "https://x/y.png" },
      { type: "file", mediaType: "application/pdf", name: "a.pdf", data: "QQ==" },
      { type: "file", mediaType: "text/markdown", data: Buffer.from("# ä").toString("base64") },
      { type: "file", mediaType: "application/pdf", url: "https://x/y.pdf" },
    ];
    expect((await bodyOf({ messages: [{ role: "user", content }], cache: "none" }))["messages"]).toEqual([
      {
        role: "user",
        content: [
          { type: "image", source: { type: "url", url: "https://x/y.png" } },
          { type: "document", source: { type: "base64", media_type: "application/pdf", data: "QQ==" }, title: "a.pdf" },
          { type: "document", source: { type: "text", media_type: "text/plain", data: "# ä" } },
          { type: "document", source: { type: "url", url: "https://x/y.pdf" } },
        ],
      },
    ]);
    await expect(
      bodyOf({ messages: [{ role: "user", content: [{ type: "image", mediaType: "image/png", blob: "sha256:0" as never }] }] }),
    ).rejects.toThrow("sha256:0");
  });

  it("makes system messages within a conversation reminders, begins with a user turn and ends without blanks", async () => {
    const body = await bodyOf({
      messages: [
        textMessage("assistant", "first"),
        textMessage("system", "be brief"),
        textMessage("user", "q"),
        textMessage("assistant", "so far \n"),
      ],
      cache: "none",
    });
    expect(body["messages"]).toEqual([
      { role: "user", content: [{ type: "text", text: "(The beginning of the conversation is not shown.)" }] },
      { role: "assistant", content: [{ type: "text", text: "first" }] },
      {
        role: "user",
        content: [
          { type: "text", text: "<system-reminder>\nbe brief\n</system-reminder>" },
          { type: "text", text: "q" },
        ],
      },
      { role: "assistant", content: [{ type: "text", text: "so far" }] },
    ]);
  });
});

describe("an answer", () => {
  const events = (...list: readonly JsonObject[]): string =>
    list.map((event) => `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  const start = {
    type: "message_start",
    message: {
      id: "m",
      model: "claude-x",
      content: [],
      usage: { input_tokens: 10, cache_read_input_tokens: 5, cache_creation_input_tokens: null, output_tokens: 2 },
    },
  };
  const stop = (reason: string, usage: JsonObject = {}): readonly JsonObject[] => [
    { type: "message_delta", delta: { stop_reason: reason, stop_sequence: reason === "stop_sequence" ? "END" : null }, usage },
    { type: "message_stop" },
  ];

  it.each([
    ["end_turn", "end-turn"],
    ["max_tokens", "max-tokens"],
    ["model_context_window_exceeded", "max-tokens"],
    ["stop_sequence", "stop-sequence"],
    ["refusal", "content-filter"],
    ["pause_turn", "pause"],
    ["brand_new", "other"],
  ])("that stops with %s has the stop reason %s [PV-04]", async (raw, expected) => {
    const response = await responseTo(events(start, ...stop(raw)));
    expect([response.stopReason, response.rawStopReason, response.providerData?.["stopSequence"]]).toEqual([
      expected,
      raw,
      raw === "stop_sequence" ? "END" : undefined,
    ]);
  });

  it("counts the cache as input, replaces field by field, and prefers the sum of iterations [PV-04]", async () => {
    expect(
      (
        await responseTo(
          events(start, ...stop("end_turn", { output_tokens: 9, input_tokens: null, output_tokens_details: { thinking_tokens: 4 } })),
        )
      ).usage,
    ).toEqual({ inputTokens: 15, outputTokens: 9, cacheReadTokens: 5, cacheCreationTokens: null, reasoningTokens: 4 });
    const iterations = [
      { input_tokens: 100, output_tokens: 20 },
      { input_tokens: 7, output_tokens: 3 },
    ];
    expect((await responseTo(events(start, ...stop("end_turn", { output_tokens: 3, iterations })))).usage).toMatchObject({
      inputTokens: 112,
      outputTokens: 23,
    });
    expect((await responseTo({ ...whole, usage: null })).usage).toEqual({
      inputTokens: null,
      outputTokens: null,
      cacheReadTokens: null,
      cacheCreationTokens: null,
      reasoningTokens: null,
    });
  });

  it("that gave results to the calls of its own program raises none of them, and raises them when it waits", async () => {
    const program = {
      type: "tool_use",
      id: "toolu_p",
      name: "roll",
      input: { n: 1 },
      caller: { type: "code_execution_20250825", tool_id: "s" },
    };
    const server = { type: "server_tool_use", id: "s", name: "code_execution", input: {} };
    const done = await responseTo({
      ...whole,
      content: [
        server,
        program,
        { type: "code_execution_tool_result", tool_use_id: "s", content: { stdout: "6" } },
        { type: "text", text: "six" },
      ],
    });
    expect(done.toolCalls).toEqual([]);
    expect(done.content.map((part) => part.type)).toEqual(["server-tool", "server-tool", "server-tool", "text"]);
    expect(done.content[1]).toMatchObject({ providerData: { block: program } });

    const blocks = (...list: readonly JsonObject[]): readonly JsonObject[] =>
      list.flatMap((block, index) => [
        { type: "content_block_start", index, content_block: { ...block, input: {} } },
        { type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json: '{"n":' } },
        { type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json: "1}" } },
        { type: "content_block_stop", index },
      ]);
    const waiting = await responseTo(events(start, ...blocks(server, program), ...stop("tool_use")));
    expect(waiting.toolCalls).toMatchObject([{ id: "toolu_p", name: "roll", input: { n: 1 } }]);
    expect(waiting.content.at(-1)).toMatchObject({ providerData: { wire: "anthropic-messages", id: "toolu_p", caller: program.caller } });
    const ended = await responseTo(events(start, ...blocks(server, program), ...stop("end_turn")));
    expect([ended.toolCalls, ended.content.map((part) => part.type)]).toEqual([[], ["server-tool", "server-tool"]]);
  });

  it("keeps blocks that interleave apart, and what it does not know whole [EV-02, EV-03, EV-04]", async () => {
    const response = await responseTo(
      events(
        start,
        { type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "a", name: "x", input: {} } },
        { type: "content_block_start", index: 1, content_block: { type: "tool_use", id: "b", name: "y", input: {} } },
        { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: '{"b"' } },
        { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"a":1}' } },
        { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: ":2}" } },
        { type: "content_block_stop", index: 1 },
        { type: "content_block_stop", index: 0 },
        { type: "content_block_start", index: 2, content_block: { type: "hologram", depth: 3, light: "" } },
        { type: "content_block_delta", index: 2, delta: { type: "hologram_delta", light: "re" } },
        { type: "content_block_delta", index: 2, delta: { type: "hologram_delta", light: "d" } },
        { type: "content_block_stop", index: 2 },
        { type: "content_block_delta", index: 9, delta: { type: "text_delta", text: "late" } },
        ...stop("tool_use"),
      ),
    );
    expect(response.toolCalls.map(({ id, input }) => [id, input])).toEqual([
      ["a", { a: 1 }],
      ["b", { b: 2 }],
    ]);
    expect(response.content.slice(2)).toEqual([
      {
        type: "other",
        raw: { type: "hologram", depth: 3, light: "red" },
        providerData: { wire: "anthropic-messages", block: { type: "hologram", depth: 3, light: "red" } },
      },
      { type: "text", text: "late" },
    ]);
  });

  it("tells of a rate limit that is nearly used up", async () => {
    const headers = {
      "anthropic-ratelimit-tokens-limit": "100",
      "anthropic-ratelimit-tokens-remaining": "10",
      "anthropic-ratelimit-tokens-reset": "2026-11-21T00:00:00Z",
      "anthropic-ratelimit-requests-limit": "100",
      "anthropic-ratelimit-requests-remaining": "90",
    };
    const provider = createAnthropicProvider({ apiKey: "k", fetch: async () => new Response(JSON.stringify(whole), { headers }) });
    const seen: InferEvent[] = [];
    for await (const event of provider.stream({ model: "m", messages: [textMessage("user", "hi")] })) seen.push(event);
    expect(seen[0]).toEqual({
      type: "rate-limit",
      rateLimit: { utilization: 0.9, resetAt: Date.parse("2026-11-21T00:00:00Z"), allowed: true },
    });
  });

  it("lists models, page by page [MC-14]", async () => {
    const pages = [
      { data: [{ id: "a", display_name: "A", max_input_tokens: 200000, max_tokens: 64000 }], has_more: true, last_id: "a" },
      { data: [{ id: "b" }], has_more: false, last_id: "b" },
    ];
    const urls: string[] = [];
    const provider = createAnthropicProvider({
      apiKey: "k",
      fetch: async (url) => {
        urls.push(url);
        return new Response(JSON.stringify(pages[urls.length - 1]));
      },
    });
    expect(await provider.listModels?.()).toMatchObject([
      { id: "a", displayName: "A", contextWindow: 200000, maxOutputTokens: 64000 },
      { id: "b", displayName: "b", contextWindow: null },
    ]);
    expect(urls[1]).toContain("after_id=a");
  });
});
