import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type CallId,
  type Content,
  type InferEvent,
  type InferRequest,
  type InferResponse,
  type JsonObject,
  type Message,
  ModelError,
  textMessage,
} from "@keelson/protocol";
import { afterEach, describe, expect, it } from "vitest";
import { infer, textOf } from "./infer.ts";
import { createOllamaProvider, type OllamaOptions } from "./ollama.ts";

interface Sent {
  readonly url: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: JsonObject;
}

/** A provider whose server responds with `body`, and what it was asked. */
function stub(body: string, options: OllamaOptions & { readonly status?: number } = {}) {
  const sent: Sent[] = [];
  const { status = 200, ...settings } = options;
  const provider = createOllamaProvider({
    baseUrl: "http://ollama.test",
    ...settings,
    fetch: async (url, { method, headers, body: asked }) => {
      sent.push({ url, method, headers, body: asked === undefined ? {} : (JSON.parse(Buffer.from(asked).toString()) as JsonObject) });
      return new Response(body, { status });
    },
  });
  return { provider, sent };
}

const line = (message: JsonObject, more: JsonObject = { done: false }): string =>
  `${JSON.stringify({ model: "qwen3:4b", created_at: "2026-11-21T10:00:00.1Z", message: { role: "assistant", content: "", ...message }, ...more })}\n`;
const done = (more: JsonObject = {}): string =>
  line({}, { done: true, done_reason: "stop", prompt_eval_count: 12, eval_count: 7, total_duration: 5, ...more });
const call = (name: string, args: JsonObject, more: JsonObject = {}): JsonObject => ({
  tool_calls: [{ ...more, function: { name, arguments: args } }],
});
const ask: InferRequest = { model: "qwen3:4b", messages: [textMessage("user", "hi")] };
const read = (body: string): Promise<InferResponse> => infer(stub(body).provider, ask);

describe("responses of Ollama", () => {
  it("join lines to thinking, text and calls; the last line tells how it ended [PV-03]", async () => {
    const response = await read(
      line({ thinking: "Hm" }) +
        line({ thinking: "m." }) +
        line({ content: "Hel" }) +
        line({ content: "lo <b>" }) +
        line(call("look", { at: 1 }, { id: "call_x" })) +
        done(),
    );
    expect(response.content).toEqual([
      { type: "thinking", text: "Hmm.", providerData: { wire: "ollama-chat", model: "qwen3:4b" } },
      { type: "text", text: "Hello <b>" },
      {
        type: "tool-call",
        id: "call_x",
        name: "look",
        input: { at: 1 },
        inputText: '{"at":1}',
        providerData: { wire: "ollama-chat", id: "call_x" },
      },
    ]);
    expect(response).toMatchObject({
      stopReason: "tool-use",
      rawStopReason: "stop",
      model: "qwen3:4b",
      providerData: { wire: "ollama-chat", durations: { total_duration: 5 } },
    });
    expect(response.usage).toEqual({
      inputTokens: 12,
      outputTokens: 7,
      cacheReadTokens: null,
      cacheCreationTokens: null,
      reasoningTokens: null,
    });
  });

  it("tell calls apart without ids, and with one index for all [PV-04]", async () => {
    const response = await read(
      line({
        tool_calls: [{ function: { index: 0, name: "a", arguments: {} } }, { function: { index: 0, name: "b", arguments: '{"x":1}' } }],
      }) +
        line(call("a", {})) +
        done(),
    );
    expect(response.toolCalls.map(({ name, input }) => [name, input])).toEqual([
      ["a", {}],
      ["b", { x: 1 }],
      ["a", {}],
    ]);
    expect(new Set(response.toolCalls.map(({ id }) => id)).size).toBe(3);
    expect(response.content.every((part) => part.type === "tool-call" && part.providerData === undefined)).toBe(true);
  });

  it("leave think tags where they are", async () => {
    expect(textOf(await read(line({ content: "<think>\nhm</think>yes" }) + done()))).toBe("<think>\nhm</think>yes");
  });

  it.each([
    ["length", "max-tokens", "length"],
    ["load", "other", "load"],
    [undefined, "end-turn", null],
  ])("with done_reason %s end with %s", async (reason, stopReason, rawStopReason) => {
    const last = { done: true, ...(reason !== undefined && { done_reason: reason }) };
    expect(await read(line({ content: "a" }) + line({}, last))).toMatchObject({ stopReason, rawStopReason, usage: { inputTokens: null } });
  });

  it.each([
    ["one object on several lines", JSON.stringify(JSON.parse(line({ content: "yes" }, { done: true })), undefined, 2)],
    ["CRLF", (line({ content: "yes" }) + done()).replaceAll("\n", "\r\n")],
    ["no line ends at all", (line({ content: "yes" }) + done()).replaceAll("\n", "")],
    ["an event stream of a gateway", `data: ${line({ content: "yes" })}\ndata: ${done()}\ndata: [DONE]\n\n`],
  ])("are read from %s", async (_name, body) => expect(textOf(await read(body))).toBe("yes"));

  it("stream line by line, and need nothing after the last one", async () => {
    const first = Promise.withResolvers<void>();
    const provider = createOllamaProvider({
      baseUrl: "http://ollama.test",
      fetch: async () =>
        new Response(
          new ReadableStream({
            async start(controller) {
              controller.enqueue(Buffer.from(line({ content: "early" })));
              await first.promise;
              controller.enqueue(Buffer.from(line({ content: " late" }) + done()));
              // The connection stays open.
            },
          }),
        ),
    });
    const events: InferEvent[] = [];
    for await (const event of provider.stream(ask)) {
      events.push(event);
      if (event.type === "text-delta") first.resolve();
    }
    expect(events.map((event) => event.type)).toEqual(["text-start", "text-delta", "text-delta", "text-end", "end"]);
  });

  it.each([
    ["a stream that ends early", line({ content: "a" }), { kind: "server-error", code: "stream-cut" }],
    ["a line that is cut", line({ content: "a" }) + done().slice(0, 40), { kind: "server-error", code: "stream-cut" }],
    [
      "an error line",
      `${line({ content: "a" })}{"error":"an error was encountered while running the model"}\n`,
      { kind: "server-error", message: expect.stringContaining("while running the model") },
    ],
    ["words between lines", `${line({ content: "a" })}Internal Server Error`, { kind: "invalid-response" }],
    ["another API's response", '{"hello":"world"}', { kind: "invalid-response", message: expect.stringContaining("without a message") }],
    ["a list", "[]", { kind: "invalid-response" }],
    ["an empty body", "", { kind: "invalid-response" }],
  ])("%s is a failure [PV-09]", async (_name, body, failure) => {
    const error = await read(body).catch((caught: unknown) => caught);
    expect(ModelError.is(error) && error.failure).toMatchObject({ provider: "ollama", model: "qwen3:4b", ...failure });
  });

  it.each([
    [404, "model 'qwen3:4b' not found", { kind: "invalid-request", message: expect.stringContaining("ollama pull qwen3:4b") }],
    [400, '"qwen3:4b" does not support tools', { kind: "invalid-request", message: expect.stringContaining("does not support tools") }],
    [500, "llama runner process has terminated", { kind: "server-error" }],
    [503, "server busy, please try again. maximum pending requests exceeded", { kind: "server-error" }],
  ])("with status %i and %j are failures that say what to do [PV-09]", async (status, error, failure) => {
    const caught = await infer(stub(JSON.stringify({ error }), { status }).provider, ask).catch((thrown: unknown) => thrown);
    expect(ModelError.is(caught) && caught.failure).toMatchObject({ status, ...failure });
  });
});

describe("the server", () => {
  const before = process.env["OLLAMA_HOST"];
  afterEach(() => {
    if (before === undefined) delete process.env["OLLAMA_HOST"];
    else process.env["OLLAMA_HOST"] = before;
  });

  it("is the local one, or the one that OLLAMA_HOST or baseUrl names, and gets no key that was not given for it [PV-06, PV-08]", async () => {
    const urls: string[] = [];
    const headers: Record<string, string>[] = [];
    const fetch: NonNullable<OllamaOptions["fetch"]> = async (url, init) => {
      urls.push(url);
      headers.push(init.headers);
      return new Response(done());
    };
    delete process.env["OLLAMA_HOST"];
    process.env["OLLAMA_API_KEY"] = "secret";
    try {
      await infer(createOllamaProvider({ fetch }), ask);
      process.env["OLLAMA_HOST"] = "box:8080";
      await infer(createOllamaProvider({ fetch }), ask);
      await infer(createOllamaProvider({ fetch, baseUrl: "http://other/v1", apiKey: "k" }), ask);
    } finally {
      delete process.env["OLLAMA_API_KEY"];
    }
    expect(urls).toEqual(["http://localhost:11434/api/chat", "http://box:8080/api/chat", "http://other/api/chat"]);
    expect(headers.map((sent) => sent["authorization"])).toEqual([undefined, undefined, "Bearer k"]);
  });

  it("says how to start it when it is not there", async () => {
    const server = createServer();
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const { port } = server.address() as AddressInfo;
    await new Promise((closed) => server.close(closed));
    const provider = createOllamaProvider({ baseUrl: `http://127.0.0.1:${port}`, proxyEnvironment: false });
    const error = await infer(provider, ask).catch((caught: unknown) => caught);
    expect(ModelError.is(error, "server-error") && error.message).toMatch(
      new RegExp(`is Ollama running at http://127\\.0\\.0\\.1:${port}\\? Start it with`),
    );
    await expect(provider.listModels?.()).rejects.toThrow(/ollama serve/);
  });

  it("lists its models with what they can do", async () => {
    const models = [
      {
        name: "qwen3:4b",
        model: "qwen3:4b",
        details: { family: "qwen3", parameter_size: "4.0B", quantization_level: "Q4_K_M" },
        capabilities: ["completion", "tools", "thinking"],
      },
      { name: "llava:7b", details: {} },
      { name: "gpt-oss:20b", model: "gpt-oss:20b" },
      { name: "nomic-embed-text:latest", model: "nomic-embed-text:latest" },
    ];
    const { provider, sent } = stub(JSON.stringify({ models }));
    const listed = (await provider.listModels?.()) ?? [];
    expect(sent[0]).toMatchObject({ method: "GET", url: "http://ollama.test/api/tags" });
    expect(listed[0]).toMatchObject({
      id: "qwen3:4b",
      description: "qwen3 4.0B Q4_K_M",
      capabilities: { toolCalling: true, vision: false },
      contextWindow: null,
    });
    expect(listed.map(({ capabilities }) => [capabilities.toolCalling, capabilities.vision, capabilities.effortLevels])).toEqual([
      [true, false, false],
      [true, true, false],
      [true, false, true],
      [false, false, false],
    ]);
  });
});

describe("requests to Ollama", () => {
  const bodyFor = async (request: Partial<InferRequest>, options: OllamaOptions = {}): Promise<JsonObject> => {
    const { provider, sent } = stub(done(), options);
    await infer(provider, { ...ask, ...request });
    return (sent[0] as Sent).body;
  };
  const tools = ["look", "go"].map((name) => ({ name, description: "d", inputSchema: { type: "object" } }));

  it("hold everything in the server's words; what `extra` says is merged", async () => {
    expect(
      await bodyFor(
        {
          system: "be brief",
          tools,
          maxTokens: 9,
          temperature: 0.5,
          topP: 0.9,
          stopSequences: ["X"],
          thinking: { type: "adaptive" },
          output: { name: "o", schema: { type: "object" } },
          extra: { options: { seed: 1 }, keep_alive: -1 },
        },
        { contextLength: 32_768, keepAlive: "10m" },
      ),
    ).toEqual({
      model: "qwen3:4b",
      stream: true,
      options: { num_ctx: 32_768, num_predict: 9, temperature: 0.5, top_p: 0.9, stop: ["X"], seed: 1 },
      think: true,
      format: { type: "object", properties: {} },
      keep_alive: -1,
      tools: tools.map(({ name }) => ({
        type: "function",
        function: { name, description: "d", parameters: { type: "object", properties: {} } },
      })),
      messages: [
        { role: "system", content: "be brief" },
        { role: "user", content: "hi" },
      ],
    });
    expect(await bodyFor({})).toEqual({ model: "qwen3:4b", stream: true, messages: [{ role: "user", content: "hi" }] });
  });

  it("offer only the tools that may be called, since the server knows no choice", async () => {
    expect(await bodyFor({ tools, toolChoice: "none" })).not.toHaveProperty("tools");
    expect((await bodyFor({ tools, toolChoice: { name: "go" } }))["tools"]).toHaveLength(1);
    expect((await bodyFor({ tools, toolChoice: "required" }))["tools"]).toHaveLength(2);
  });

  it.each<[string, Partial<InferRequest>, unknown]>([
    ["qwen3", { thinking: { type: "disabled" } }, false],
    ["qwen3", { thinking: { type: "enabled", budgetTokens: 100 } }, true],
    ["llama3", { effort: "high" }, undefined],
    ["gpt-oss:20b", { effort: "max" }, "high"],
    ["gpt-oss:20b", { thinking: { type: "disabled" } }, "low"],
  ])("ask %s to think, given %j, by %j [AG-06, AG-07]", async (model, request, think) =>
    expect((await bodyFor({ model, ...request }))["think"]).toBe(think),
  );

  it("say a conversation: own thinking back, calls as objects, results by name and id, images as bytes", async () => {
    const made = (id: string, providerData?: JsonObject): Content => ({
      type: "tool-call",
      id: id as CallId,
      name: "look",
      input: { at: id },
      inputText: "",
      ...(providerData && { providerData: { wire: "ollama-chat", ...providerData } }),
    });
    const image: Content = { type: "image", mediaType: "image/png", data: "AQID" };
    const messages: Message[] = [
      { role: "user", content: [{ type: "text", text: "go" }, image, { type: "image", mediaType: "image/png", url: "https://x/i.png" }] },
      {
        role: "assistant",
        content: [
          { type: "thinking", text: "mine", providerData: { wire: "ollama-chat", model: "qwen3:4b" } },
          { type: "thinking", text: "another's", providerData: { wire: "ollama-chat", model: "llama3" } },
          { type: "text", text: "Looking." },
          made("1", { id: "call_1" }),
          made("2"),
          made("3"),
        ],
      },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            id: "1" as CallId,
            name: "look",
            output: { type: "content", content: [{ type: "text", text: "seen" }, image] as unknown as JsonObject[] },
          },
          { type: "tool-result", id: "2" as CallId, name: "look", output: { code: 5 }, isError: true },
        ],
      },
      {
        role: "user",
        content: [
          { type: "file", mediaType: "text/plain", name: "n.txt", data: Buffer.from("note").toString("base64") },
          { type: "file", mediaType: "application/pdf", name: "d.pdf", data: "JVBE" },
        ],
      },
    ];
    const sent = (await bodyFor({ messages }))["messages"];
    expect(sent).toEqual([
      { role: "user", content: "go\n[image at https://x/i.png]", images: ["AQID"] },
      {
        role: "assistant",
        content: "Looking.",
        thinking: "mine",
        tool_calls: [
          { id: "call_1", type: "function", function: { name: "look", arguments: { at: "1" } } },
          { type: "function", function: { name: "look", arguments: { at: "2" } } },
          { type: "function", function: { name: "look", arguments: { at: "3" } } },
        ],
      },
      { role: "tool", content: expect.stringContaining("seen"), tool_name: "look", tool_call_id: "call_1" },
      { role: "tool", content: 'Error: {"code":5}', tool_name: "look" },
      { role: "tool", content: "This call was not executed.", tool_name: "look" },
      { role: "user", content: "From the result of look:", images: ["AQID"] },
      { role: "user", content: "n.txt:\nnote\n[file d.pdf]" },
    ]);
  });

  it("keep the bytes of a conversation, and say the same as when it is encoded at once", async () => {
    const { provider, sent } = stub(done());
    const conversation = {};
    const messages: Message[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      messages.push(textMessage("user", `question ${turn}`));
      await infer(provider, { ...ask, system: "be brief", messages: [...messages] }, { conversation });
      expect(sent.at(-1)?.body).toEqual(await bodyFor({ system: "be brief", messages }));
      messages.push(textMessage("assistant", `answer ${turn}`));
    }
  });
});
