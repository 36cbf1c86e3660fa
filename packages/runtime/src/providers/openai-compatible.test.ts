import { type CallId, type Content, type InferRequest, type JsonObject, type Message, ModelError, textMessage } from "@keelson/protocol";
import { afterEach, describe, expect, it, vi } from "vitest";
import { infer } from "./infer.ts";
import { createOpenAiCompatibleProvider, KNOWN_VENDORS, type OpenAiCompatibleOptions } from "./openai-compatible.ts";

const whole = { id: "c", model: "m", choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }] };
const chunks = (...list: readonly JsonObject[]): string =>
  `${list.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`;
const delta = (fields: JsonObject, finish: string | null = null): JsonObject => ({
  model: "m",
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
});

interface Sent {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: JsonObject;
}

function stub(
  options: OpenAiCompatibleOptions,
  response: unknown = whole,
): { sent: Sent[]; provider: ReturnType<typeof createOpenAiCompatibleProvider> } {
  const sent: Sent[] = [];
  const provider = createOpenAiCompatibleProvider({
    apiKey: "key",
    fetch: async (url, { headers, body }) => {
      sent.push({ url, headers, body: body === undefined ? {} : (JSON.parse(Buffer.from(body).toString()) as JsonObject) });
      return new Response(typeof response === "string" ? response : JSON.stringify(response));
    },
    ...options,
  });
  return { sent, provider };
}

async function bodyOf(options: string | OpenAiCompatibleOptions, request: Partial<InferRequest>): Promise<JsonObject> {
  const { sent, provider } = stub(typeof options === "string" ? { vendor: options, baseUrl: "http://stub/v1" } : options);
  await infer(provider, { model: "m", messages: [textMessage("user", "hi")], ...request });
  return sent[0]?.body as JsonObject;
}

afterEach(() => vi.unstubAllEnvs());

describe("a vendor", () => {
  it("is known by name: where it is, how it takes its key, what the limit is called", async () => {
    const groq = stub({ vendor: "groq" });
    await infer(groq.provider, { model: "m", messages: [textMessage("user", "hi")], maxTokens: 5 });
    expect(groq.sent[0]).toMatchObject({
      url: "https://api.groq.com/openai/v1/chat/completions",
      headers: { authorization: "Bearer key" },
      body: { max_completion_tokens: 5 },
    });
    expect([groq.provider.name, groq.provider.wire]).toEqual(["groq", "openai-chat"]);
    const portkey = stub({ vendor: "Portkey " });
    await infer(portkey.provider, { model: "m", messages: [textMessage("user", "hi")], maxTokens: 5 });
    expect(portkey.sent[0]).toMatchObject({ headers: { "x-portkey-api-key": "key" }, body: { max_tokens: 5 } });
    expect(portkey.sent[0]?.headers).not.toHaveProperty("authorization");
  });

  it("has its key in a variable of its own, unless it is a server of one's own", async () => {
    vi.stubEnv("HF_TOKEN", "from-environment");
    let sentKey: string | undefined;
    const fetch: NonNullable<OpenAiCompatibleOptions["fetch"]> = async (_url, { headers }) => {
      sentKey = headers["authorization"];
      return new Response(JSON.stringify(whole));
    };
    await infer(createOpenAiCompatibleProvider({ vendor: "huggingface", fetch }), { model: "m", messages: [textMessage("user", "hi")] });
    expect(sentKey).toBe("Bearer from-environment");
    vi.stubEnv("MISTRAL_API_KEY", "");
    await expect(
      infer(createOpenAiCompatibleProvider({ vendor: "mistral" }), { model: "m", messages: [textMessage("user", "hi")] }),
    ).rejects.toThrow("MISTRAL_API_KEY");
    const local = stub({ vendor: "llamacpp", apiKey: "" });
    await infer(local.provider, { model: "m", messages: [textMessage("user", "hi")] });
    expect(local.sent[0]?.url).toBe("http://localhost:8080/v1/chat/completions");
    expect(local.sent[0]?.headers).not.toHaveProperty("authorization");
  });

  it("has what its address needs from the environment, and a request says what is missing", async () => {
    vi.stubEnv("CLOUDFLARE_ACCOUNT_ID", "");
    const { sent, provider } = stub({ vendor: "cloudflare" });
    const failed = await infer(provider, { model: "m", messages: [textMessage("user", "hi")] }).catch((error: unknown) => error);
    expect(ModelError.is(failed, "invalid-request") && failed.message).toContain("CLOUDFLARE_ACCOUNT_ID");
    vi.stubEnv("CLOUDFLARE_ACCOUNT_ID", "acc");
    await infer(provider, { model: "m", messages: [textMessage("user", "hi")] });
    expect(sent[0]?.url).toBe("https://api.cloudflare.com/client/v4/accounts/acc/ai/v1/chat/completions");
  });

  it.each([["nobody-knows"], [""], ["__proto__"], ["constructor"], ["ümläut 9"]])(
    "named %j is an ordinary server, which needs an address only when it is asked",
    async (vendor) => {
      expect((await bodyOf(vendor, { maxTokens: 3 }))["max_tokens"]).toBe(3);
      const failed = await infer(createOpenAiCompatibleProvider({ vendor, apiKey: "k" }), {
        model: "m",
        messages: [textMessage("user", "hi")],
      }).catch((error: unknown) => error);
      expect(ModelError.is(failed, "invalid-request") && failed.message).toContain("pass baseUrl");
    },
  );

  it.each(KNOWN_VENDORS.map((vendor) => [vendor] as const))("%s takes every option", async (vendor) => {
    const request: Partial<InferRequest> = {
      system: "s",
      maxTokens: 9,
      temperature: 0,
      topP: 1,
      stopSequences: ["x"],
      tools: [{ name: "t", description: "d", inputSchema: { type: "object" } }],
      toolChoice: { name: "t" },
      output: { name: "o", schema: { type: "object" } },
      extra: { seed: 1 },
    };
    for (const thinking of [undefined, { type: "adaptive" }, { type: "disabled" }, { type: "enabled", budgetTokens: 2000 }] as const) {
      for (const effort of [undefined, "low", "max"] as const) {
        const body = await bodyOf(vendor, { ...request, ...(thinking && { thinking }), ...(effort && { effort }) });
        expect(body).toMatchObject({ model: "m", stream: true, temperature: 0, seed: 1, tools: [{ function: { name: "t" } }] });
      }
    }
  });

  it("can be described by its user, over what is known", async () => {
    const body = await bodyOf(
      {
        vendor: "mistral",
        baseUrl: "http://stub",
        quirks: { streamOptions: undefined as never, refuses: ["temperature"], requiredToolChoice: "must" },
      },
      {
        temperature: 1,
        tools: [{ name: "t", description: "", inputSchema: {} }],
        toolChoice: "required",
      },
    );
    expect(body).toMatchObject({ tool_choice: "must", stream_options: { include_usage: true } });
    expect(body).not.toHaveProperty("temperature");
  });

  it("lists its models under whatever names it has for what they can do", async () => {
    const list = async (response: unknown): Promise<unknown> =>
      (await stub({ vendor: "x", baseUrl: "http://stub" }, response).provider.listModels?.())?.[0];
    expect(
      await list({
        data: [
          {
            id: "a",
            context_length: 10,
            architecture: { input_modalities: ["text", "image"] },
            supported_parameters: ["tools", "reasoning"],
            top_provider: { max_completion_tokens: 5 },
          },
        ],
      }),
    ).toMatchObject({
      id: "a",
      contextWindow: 10,
      maxOutputTokens: 5,
      supportedEffortLevels: ["low", "medium", "high"],
      capabilities: { toolCalling: true, vision: true, structuredOutput: false, effortLevels: true },
    });
    expect(
      await list([{ id: "b", name: "B", max_context_length: 7, capabilities: { function_calling: false, vision: true } }]),
    ).toMatchObject({ id: "b", displayName: "B", contextWindow: 7, capabilities: { toolCalling: false, vision: true } });
    expect(await list({ data: [{ id: "text-embedding-3" }] })).toMatchObject({ capabilities: { toolCalling: false, streaming: false } });
  });
});

describe("a request to", () => {
  const tools = [{ name: "t", description: "", inputSchema: {} }];
  const output = { name: "o", schema: { type: "object", properties: { a: { type: "string" } }, required: ["a"] } };
  const cases: readonly (readonly [string, string, Partial<InferRequest>, JsonObject])[] = [
    [
      "deepseek",
      "is told the schema in words",
      { output },
      {
        response_format: { type: "json_object" },
        messages: [
          { role: "system", content: expect.stringContaining('"required":["a"]') as never },
          { role: "user", content: "hi" },
        ],
      },
    ],
    [
      "deepseek",
      "turns thinking on with an effort of its own",
      { effort: "max" },
      { thinking: { type: "enabled" }, reasoning_effort: "max" },
    ],
    ["zai", "can choose a tool only by itself", { tools, toolChoice: "required" }, { tool_choice: "auto" }],
    ["mistral", "says any for required", { tools, toolChoice: "required" }, { tool_choice: "any" }],
    ["mistral", "has two levels of effort", { effort: "low" }, { reasoning_effort: "high" }],
    ["llamacpp", "requires a tool where it cannot name one", { tools, toolChoice: { name: "t" } }, { tool_choice: "required" }],
    [
      "groq",
      "can hold to a strict schema",
      { output },
      {
        response_format: {
          type: "json_schema",
          json_schema: { name: "o", strict: true, schema: { ...output.schema, additionalProperties: false } },
        },
      },
    ],
    ["openrouter", "has a member for reasoning", { effort: "high" }, { reasoning: { effort: "high" } }],
    [
      "openrouter",
      "takes a budget",
      { thinking: { type: "enabled", budgetTokens: 4000 } },
      { reasoning: { enabled: true, max_tokens: 4000 } },
    ],
    [
      "alibaba",
      "takes a budget at the root",
      { thinking: { type: "enabled", budgetTokens: 4000 } },
      { enable_thinking: true, thinking_budget: 4000 },
    ],
    ["vllm", "switches thinking in the template", { thinking: { type: "disabled" } }, { chat_template_kwargs: { enable_thinking: false } }],
    ["xai", "has no effort above high", { effort: "max" }, { reasoning_effort: "high" }],
    ["openai", "has the effort of its newest models", { effort: "max", model: "gpt-5.4" }, { reasoning_effort: "xhigh" }],
  ];
  it.each(cases)("%s %s [AG-06, AG-07]", async (vendor, _what, request, expected) => {
    const body = await bodyOf(vendor, request);
    expect(body).toMatchObject(expected);
    if (expected["reasoning_effort"] === undefined) expect(body).not.toHaveProperty("reasoning_effort");
  });

  it("mistral does not ask for usage, which comes anyway", async () => {
    expect(await bodyOf("mistral", {})).not.toHaveProperty("stream_options");
    expect(await bodyOf("groq", {})).toMatchObject({ stream_options: { include_usage: true } });
  });

  const call = (id: string, vendorId: string): Content => ({
    type: "tool-call",
    id: id as CallId,
    name: "t",
    input: {},
    inputText: "{}",
    providerData: { wire: "openai-chat", id: vendorId },
  });
  const result = (id: string): Content => ({ type: "tool-result", id: id as CallId, name: "t", output: "r" });
  const turns: readonly Message[] = [
    textMessage("user", "go"),
    { role: "assistant", content: [call("c_1", "call_long_1"), call("c_2", "AbCdEf123")] },
    { role: "tool", content: [result("c_1"), result("c_2")] },
    textMessage("system", "later"),
    textMessage("user", "on"),
  ];

  it("mistral has ids of nine letters and digits, the same in call and result, and no user right after results", async () => {
    const messages = (await bodyOf("mistral", { messages: turns }))["messages"] as readonly JsonObject[];
    const ids = (messages[1]?.["tool_calls"] as readonly JsonObject[]).map((each) => each["id"]);
    expect(ids).toEqual([expect.stringMatching(/^[0-9A-Za-z]{9}$/), "AbCdEf123"]);
    expect(messages.slice(2, 4).map((each) => each["tool_call_id"])).toEqual(ids);
    expect(messages.slice(4).map(({ role, content }) => [role, content])).toEqual([
      ["assistant", "OK"],
      ["system", "later"],
      ["user", "on"],
    ]);
  });

  it("perplexity has system words of later on from the user, and its words joined", async () => {
    expect(
      (await bodyOf("perplexity", { messages: [...turns.slice(0, 1), textMessage("assistant", "a"), ...turns.slice(3)], system: "first" }))[
        "messages"
      ],
    ).toEqual([
      { role: "system", content: "first" },
      { role: "user", content: "go" },
      { role: "assistant", content: "a" },
      { role: "user", content: "later\n\non" },
    ]);
  });

  it("vendors without a rule of their own has their ids as they gave them, however long", async () => {
    const long = `chatcmpl-tool-${"x".repeat(40)}`;
    const idIn = async (vendor: string): Promise<unknown> =>
      (
        (
          (
            await bodyOf(vendor, {
              messages: [
                turns[0] as Message,
                { role: "assistant", content: [call("c_1", long)] },
                { role: "tool", content: [result("c_1")] },
              ],
            })
          )["messages"] as readonly JsonObject[]
        )[1]?.["tool_calls"] as readonly JsonObject[]
      )[0]?.["id"];
    expect(await idIn("openrouter")).toBe(long);
    expect(await idIn("openai")).toMatch(/^[0-9A-Za-z]{40}$/);
  });
});

describe("reasoning", () => {
  const call = { tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "f", arguments: "{}" } }] };
  async function backAs(vendor: string, response: string, model = "m"): Promise<{ content: readonly Content[]; message: JsonObject }> {
    const { sent, provider } = stub({ vendor, baseUrl: "http://stub" }, response);
    const { content } = await infer(provider, { model: "m", messages: [textMessage("user", "hi")] });
    await infer(provider, { model, messages: [textMessage("user", "q"), { role: "assistant", content }] });
    return { content, message: ((sent[1]?.body["messages"] ?? []) as readonly JsonObject[])[1] ?? {} };
  }

  it.each(["reasoning_content", "reasoning", "reasoning_text"])("goes back in %s where it came in it", async (field) => {
    const { content, message } = await backAs(
      "x",
      chunks(delta({ [field]: "why " }), delta({ [field]: "so" }), delta({ content: "a" }), delta(call, "tool_calls")),
    );
    expect(content[0]).toEqual({ type: "thinking", text: "why so", providerData: { wire: "openai-chat", model: "m", field } });
    expect(message).toMatchObject({ role: "assistant", content: "a", [field]: "why so", tool_calls: [{ id: "a" }] });
  });

  it("goes back to the same model only, and not at all to vendors that do not take it", async () => {
    const response = chunks(delta({ reasoning_content: "why" }), delta({ content: "a" }, "stop"));
    expect((await backAs("x", response, "other")).message).toEqual({ role: "assistant", content: "a" });
    expect((await backAs("xai", response)).message).toEqual({ role: "assistant", content: "a" });
  });

  it("is there, if need be empty, in turns with calls where its vendor insists", async () => {
    expect((await backAs("deepseek", chunks(delta(call, "tool_calls")))).message).toMatchObject({ reasoning_content: "" });
    expect((await backAs("deepseek", chunks(delta({ content: "a" }, "stop")))).message).not.toHaveProperty("reasoning_content");
  });

  it("goes back as signed details, put together from their pieces, also those that come after all else", async () => {
    const detail = (fields: JsonObject): JsonObject =>
      delta({ content: "", reasoning_details: [{ type: "reasoning.text", index: 0, format: "f", ...fields }] });
    const late = { type: "reasoning.encrypted", index: 1, data: "sealed" };
    const { content, message } = await backAs(
      "openrouter",
      chunks(
        { ...delta({ reasoning: "a", reasoning_details: [{ type: "reasoning.text", index: 0, text: "a" }] }) },
        delta({ reasoning: "b", reasoning_details: [{ type: "reasoning.text", index: 0, text: "b", signature: null }] }),
        detail({ signature: "sig" }),
        delta(call),
        delta({ reasoning_details: [late] }, "tool_calls"),
      ),
    );
    expect(content.map((part) => (part.type === "thinking" ? part.text : part.type))).toEqual(["ab", "tool-call", ""]);
    expect(message).toMatchObject({
      reasoning_details: [{ type: "reasoning.text", index: 0, text: "ab", signature: "sig", format: "f" }, late],
    });
    expect(message).not.toHaveProperty("reasoning");
  });

  it("is read from details where no other member holds it (Snowflake), and not twice where one does", async () => {
    const only = await backAs(
      "x",
      chunks(
        delta({ reasoning_details: [{ type: "reasoning.text", index: 0, text: "15" }] }),
        delta({ reasoning_details: [{ type: "reasoning.text", index: 0, text: " * 2" }] }),
        delta({ content: "30" }),
      ),
    );
    expect(only.content.map((part) => (part.type === "thinking" || part.type === "text" ? part.text : ""))).toEqual(["15 * 2", "30"]);
    expect(only.message).toMatchObject({ reasoning_details: [{ text: "15 * 2" }] });
  });

  it("goes back as a part of the content where it came so (Mistral)", async () => {
    const { content, message } = await backAs(
      "mistral",
      chunks(delta({ content: [{ type: "thinking", thinking: [{ type: "text", text: "why" }] }] }), delta({ content: "a" }, "stop")),
    );
    expect(content.map((part) => part.type)).toEqual(["thinking", "text"]);
    expect(message).toEqual({
      role: "assistant",
      content: [
        { type: "thinking", thinking: [{ type: "text", text: "why" }] },
        { type: "text", text: "a" },
      ],
    });
  });
});

it("tells what the vendor behind a router said", async () => {
  const raw = JSON.stringify({ code: "denied", error: "Content violates usage guidelines." });
  const provider = createOpenAiCompatibleProvider({
    vendor: "openrouter",
    apiKey: "k",
    fetch: async () =>
      new Response(JSON.stringify({ error: { code: 403, message: "Provider returned error", metadata: { raw } } }), { status: 403 }),
  });
  const failed = await infer(provider, { model: "m", messages: [textMessage("user", "hi")] }).catch((error: unknown) => error);
  expect(ModelError.is(failed, "content-blocked") && failed.message).toContain(
    "Provider returned error: Content violates usage guidelines.",
  );
});
