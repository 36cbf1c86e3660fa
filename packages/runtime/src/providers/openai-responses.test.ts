import {
  type CallId,
  type Content,
  type InferEvent,
  type InferRequest,
  type InferResponse,
  type JsonObject,
  type JsonValue,
  type Message,
  ModelError,
  textMessage,
} from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { validateRequest } from "../testing/request-validation/validate-request.ts";
import { infer, textOf } from "./infer.ts";
import { createOpenAiResponsesProvider, type ProviderOptions } from "./openai-responses.ts";
import { ResponsesRequestEncoder } from "./openai-responses/responses-request.ts";

const WIRE = "openai-responses";
const completed = (fields: JsonObject = {}): JsonObject => ({
  id: "resp_1",
  object: "response",
  status: "completed",
  model: "gpt-x-2026",
  store: false,
  output: [],
  ...fields,
});
const message = (text: string, id = "msg_1"): JsonObject => ({
  type: "message",
  id,
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }],
});
/** A stream as OpenAI sends it: named events, counted, with padding. */
const stream = (...events: readonly JsonObject[]): string =>
  events
    .map(
      (event, at) => `event: ${String(event["type"])}\ndata: ${JSON.stringify({ type: event["type"], sequence_number: at, ...event })}\n\n`,
    )
    .join("");
const added = (at: number, item: JsonObject): JsonObject => ({ type: "response.output_item.added", output_index: at, item });
const done = (at: number, item: JsonObject): JsonObject => ({ type: "response.output_item.done", output_index: at, item });
const delta = (type: string, at: number, text: string, more: JsonObject = {}): JsonObject => ({
  type: `response.${type}.delta`,
  output_index: at,
  content_index: 0,
  delta: text,
  ...more,
});
const end = (fields: JsonObject = {}, type = "completed"): JsonObject => ({ type: `response.${type}`, response: completed(fields) });
const begin: JsonObject = { type: "response.created", response: completed({ status: "in_progress" }) };

interface Sent {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: JsonObject;
}

function stub(
  response: unknown = completed({ output: [message("ok")] }),
  options: ProviderOptions = {},
): { sent: Sent[]; provider: ReturnType<typeof createOpenAiResponsesProvider> } {
  const sent: Sent[] = [];
  const provider = createOpenAiResponsesProvider({
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
  expect(validateRequest(WIRE, sent[0]?.body)).toEqual([]);
  return sent[0]?.body as JsonObject;
}

const responseTo = (response: unknown): Promise<InferResponse> =>
  infer(stub(response).provider, { model: "gpt-x", messages: [textMessage("user", "hi")] });
const failureOf = async (response: unknown): Promise<ModelError["failure"]> => {
  const failed = await responseTo(response).catch((error: unknown) => error);
  if (!ModelError.is(failed)) throw new Error(`expected a failure, got ${JSON.stringify(failed)}`);
  return failed.failure;
};
/** What goes back as the assistant's turn, for the same model or another. */
async function backAs(response: unknown, model = "gpt-x", options: ProviderOptions = {}): Promise<readonly JsonObject[]> {
  const { sent, provider } = stub(response, options);
  const { content } = await infer(provider, { model: "gpt-x", messages: [textMessage("user", "hi")] });
  const other = stub();
  await infer(model === "gpt-x" ? provider : other.provider, {
    model,
    messages: [textMessage("user", "q"), { role: "assistant", content }, textMessage("user", "r")],
  });
  return ((sent[1] ?? other.sent[0])?.body["input"] as readonly JsonObject[]).slice(1, -1);
}

describe("a request", () => {
  it("goes to /responses as a bearer, leaves nothing with the vendor and asks for encrypted reasoning [LA-18, PV-07]", async () => {
    const { sent, provider } = stub();
    await infer(provider, { model: "gpt-x", messages: [textMessage("user", "hi")], system: "be good" });
    expect(sent[0]).toMatchObject({ url: "https://api.openai.com/v1/responses", headers: { authorization: "Bearer secret" } });
    expect(sent[0]?.body).toEqual({
      model: "gpt-x",
      stream: true,
      store: false,
      instructions: "be good",
      include: ["reasoning.encrypted_content"],
      input: [{ role: "user", content: "hi" }],
    });
    const azure = stub(undefined, { baseUrl: "https://x.openai.azure.com/openai/v1?api-version=preview" });
    await infer(azure.provider, { model: "m", messages: [textMessage("user", "hi")] });
    expect(azure.sent[0]).toMatchObject({
      url: "https://x.openai.azure.com/openai/v1/responses?api-version=preview",
      headers: { "api-key": "secret" },
    });
  });

  it("does not ask models that do not reason for their reasoning, which they refuse", async () => {
    expect(await bodyOf({ model: "gpt-4o" })).not.toHaveProperty("include");
    expect(await bodyOf({ model: "gpt-5-chat-latest", extra: { include: ["file_search_call.results"] } })).toMatchObject({
      include: ["file_search_call.results"],
    });
    expect(await bodyOf({ extra: { include: ["file_search_call.results"] } })).toMatchObject({
      include: ["reasoning.encrypted_content", "file_search_call.results"],
    });
  });

  it("carries every option, and extra as it is [PV-02, AG-06, AG-07]", async () => {
    const strict = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
    const body = await bodyOf({
      maxTokens: 50,
      temperature: 0.5,
      topP: 0.9,
      stopSequences: ["END"],
      effort: "high",
      thinking: { type: "adaptive" },
      toolChoice: { name: "look" },
      output: { name: "answer", schema: strict },
      tools: [
        { name: "look", description: "Looks.", inputSchema: strict },
        { name: "free", description: "", inputSchema: { type: "object", properties: { a: { type: "string" } } } },
      ],
      extra: { tools: [{ type: "web_search" }], text: { verbosity: "low" }, metadata: { a: "b" }, store: true },
    });
    const closed = { ...strict, additionalProperties: false };
    expect(body).toMatchObject({
      max_output_tokens: 50,
      temperature: 0.5,
      top_p: 0.9,
      stop: ["END"],
      store: true,
      metadata: { a: "b" },
      reasoning: { effort: "high", summary: "auto" },
      tool_choice: { type: "function", name: "look" },
      text: { verbosity: "low", format: { type: "json_schema", name: "answer", schema: closed, strict: true } },
      // A schema is strict unless the API is told that it is not.
      tools: [
        { type: "function", name: "look", description: "Looks.", parameters: closed, strict: true },
        { name: "free", strict: false, parameters: { type: "object", properties: { a: { type: "string" } } } },
        { type: "web_search" },
      ],
    });
    expect(await bodyOf({ toolChoice: "required" })).not.toHaveProperty("tool_choice");
    expect(await bodyOf({ effort: "max", model: "gpt-5.4" })).toMatchObject({ reasoning: { effort: "xhigh" } });
    expect((await bodyOf({ effort: "max" }))["reasoning"]).toEqual({ effort: "high" });
  });

  it("sends calls and results under the vendor's ids, orphans closed, free text as such, images inside of results", async () => {
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
          call("c_1", { providerData: { wire: WIRE, model: "gpt-x", id: "call_1", itemId: "fc_1" } }),
          call("c_2", { providerData: { wire: WIRE, model: "other", id: "call_2", itemId: "fc_2" } }),
          {
            type: "tool-call",
            id: "c_3" as CallId,
            name: "free",
            input: "text",
            inputText: "text",
            custom: true,
            providerData: { wire: WIRE, id: "call_3" },
          },
          { type: "tool-call", id: "c_4" as CallId, name: "far", input: "text", inputText: "text", custom: true },
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
          { type: "tool-result", id: "c_3" as CallId, name: "free", output: { x: 1 } },
          { type: "tool-result", id: "c_0" as CallId, name: "lost", output: "stray" },
        ],
      },
    ];
    expect((await bodyOf({ messages }))["input"]).toEqual([
      { role: "user", content: "go" },
      { role: "assistant", content: "I look" },
      { type: "function_call", id: "fc_1", call_id: "call_1", name: "look", arguments: '{ "a": 1 }' },
      // Another model's item: the vendor would look for the reasoning that it followed.
      { type: "function_call", call_id: "call_2", name: "look", arguments: '{ "a": 1 }' },
      { type: "custom_tool_call", call_id: "call_3", name: "free", input: "text" },
      { type: "function_call", call_id: "c_4", name: "far", arguments: '{"input":"text"}' },
      {
        type: "function_call_output",
        call_id: "call_1",
        output: [
          { type: "input_text", text: "see" },
          { type: "input_image", image_url: "data:image/png;base64,QQ==", detail: "auto" },
        ],
      },
      { type: "function_call_output", call_id: "call_2", output: "This call was not executed." },
      { type: "custom_tool_call_output", call_id: "call_3", output: '{"x":1}' },
      { type: "function_call_output", call_id: "c_4", output: "This call was not executed." },
      { role: "user", content: "Result of an earlier call of lost: stray" },
      { role: "system", content: "be quick" },
    ]);
  });

  it("encodes images, files and audio, items of its own in user messages, and what only other wires know in words", async () => {
    const content: Content[] = [
      { type: "text", text: "see" },
      { type: "image", mediaType: "image/png", url: "https://x/y.png" },
      { type: "image", mediaType: "image/png", data: "", providerData: { wire: WIRE, fileId: "file-1", detail: "low" } },
      { type: "file", mediaType: "application/pdf", name: "a.pdf", data: "QQ==" },
      { type: "file", mediaType: "application/pdf", url: "https://x/a.pdf" },
      { type: "file", mediaType: "text/plain", name: "a.txt", data: Buffer.from("ä").toString("base64") },
      { type: "file", mediaType: "audio/mpeg", data: "QQ==" },
      { type: "other", raw: { type: "mcp_approval_response", approval_request_id: "m", approve: true }, providerData: { wire: WIRE } },
    ];
    const assistant: Message = {
      role: "assistant",
      content: [
        { type: "server-tool", name: "web", text: "found", providerData: { wire: "anthropic-messages", block: {} } },
        { type: "refusal", text: "no" },
        { type: "other", raw: { x: 1 }, providerData: { wire: "gemini" } },
      ],
    };
    expect((await bodyOf({ messages: [{ role: "user", content }, assistant, textMessage("user", "so?")] }))["input"]).toEqual([
      { type: "mcp_approval_response", approval_request_id: "m", approve: true },
      {
        role: "user",
        content: [
          { type: "input_text", text: "see" },
          { type: "input_image", image_url: "https://x/y.png", detail: "auto" },
          { type: "input_image", file_id: "file-1", detail: "low" },
          { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,QQ==" },
          { type: "input_file", file_url: "https://x/a.pdf" },
          { type: "input_text", text: "a.txt:\nä" },
          { type: "input_audio", input_audio: { data: "QQ==", format: "mp3" } },
        ],
      },
      { role: "assistant", content: "[web] found\nno" },
      { role: "user", content: "so?" },
    ]);
    await expect(
      infer(stub().provider, {
        model: "m",
        messages: [{ role: "user", content: [{ type: "image", mediaType: "image/png", blob: "sha256:1" as never }] }],
      }),
    ).rejects.toThrow("sha256:1");
  });

  it("is the same bytes whether the conversation is kept or encoded anew", () => {
    const part = fc.oneof(
      fc
        .constantFrom("", "a", "ä\n")
        .map((text): Content => ({ type: "text", text, providerData: { wire: WIRE, model: "m", itemId: "msg_1" } })),
      fc.constantFrom("c_1", "c_2").map((id): Content => ({
        type: "tool-call",
        id: id as CallId,
        name: "f",
        input: {},
        inputText: "{}",
        providerData: { wire: WIRE, model: "m", id: `call_${id}`, itemId: `fc_${id}` },
      })),
      fc.constantFrom("c_1", "c_2").map((id): Content => ({ type: "tool-result", id: id as CallId, name: "f", output: "r" })),
      fc.constantFrom("", "why").map((text): Content => ({
        type: "thinking",
        text,
        providerData: { wire: WIRE, model: "m", itemId: "rs_1", encrypted: "e", part: "summary" },
      })),
    );
    const messages = fc.array(
      fc.record({ role: fc.constantFrom("user", "assistant", "tool", "system"), content: fc.array(part, { maxLength: 3 }) }),
      { maxLength: 9 },
    );
    fc.assert(
      fc.property(messages, (list) => {
        const make = (): ResponsesRequestEncoder => new ResponsesRequestEncoder({ wire: WIRE, provider: "openai", defaultModel: "m" });
        const [kept, conversation] = [make(), {}];
        for (let length = 1; length <= list.length; length += 1) {
          const request = { model: "m", messages: list.slice(0, length) as Message[] };
          expect(Buffer.concat(kept.encode(request, { conversation })).toString()).toBe(
            Buffer.concat(make().encode(request, {})).toString(),
          );
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe("an answer", () => {
  it("has text of all its messages and parts, without separator, with their ids, phases and citations", async () => {
    const cited = { type: "output_text", text: "b", annotations: [{ type: "url_citation", url: "https://x" }] };
    const events = [
      begin,
      added(0, { type: "message", id: "msg_1", phase: "commentary", content: [] }),
      delta("output_text", 0, "a"),
      { type: "response.content_part.done", output_index: 0, content_index: 0, part: { type: "output_text", text: "a", annotations: [] } },
      delta("output_text", 0, "b", { content_index: 1 }),
      { type: "response.output_text.annotation.added", output_index: 0, annotation: {} },
      done(0, { ...message(""), content: [{ type: "output_text", text: "a", annotations: [] }, cited] }),
      added(1, { type: "message", id: "msg_2", content: [] }),
      delta("output_text", 1, "c"),
      done(1, message("c", "msg_2")),
      end(),
    ];
    const own = { wire: WIRE, model: "gpt-x", provider: "openai" };
    const response = await responseTo(stream(...events));
    expect([textOf(response), response.model, response.providerData]).toEqual(["abc", "gpt-x-2026", { wire: WIRE, id: "resp_1" }]);
    expect(response.content).toEqual([
      { type: "text", text: "a", providerData: { ...own, itemId: "msg_1", phase: "commentary" } },
      { type: "text", text: "b", providerData: { ...own, itemId: "msg_1", phase: "commentary", annotations: cited.annotations } },
      { type: "text", text: "c", providerData: { ...own, itemId: "msg_2" } },
    ]);
    expect(await backAs(stream(...events))).toEqual([
      {
        type: "message",
        id: "msg_1",
        role: "assistant",
        status: "completed",
        phase: "commentary",
        content: [{ type: "output_text", text: "a", annotations: [] }, cited],
      },
      { ...message("c", "msg_2") },
    ]);
    expect(await backAs(stream(...events), "other")).toEqual([{ role: "assistant", content: "abc" }]);
  });

  it("has calls by their call id, at whatever place they come, and the raw input of free-text ones [EV-02]", async () => {
    const call = (n: number, args: JsonValue): JsonObject => ({
      type: "function_call",
      id: `fc_${n}`,
      call_id: `call_${n}x`,
      name: "f",
      arguments: args,
    });
    const events = [
      begin,
      added(0, call(0, "")),
      added(1, call(1, "")),
      delta("function_call_arguments", 1, '{"n":'),
      delta("function_call_arguments", 0, "{}"),
      delta("function_call_arguments", 1, "1}"),
      done(1, call(1, '{"n":1}')),
      done(0, call(0, "{}")),
      done(2, call(2, "")),
      done(3, { type: "custom_tool_call", id: "ctc_1", call_id: "call_c", name: "free", input: "4 + 4" }),
      added(4, { type: "function_call", id: "fc_4", call_id: "call_4x", name: "g" }),
      { type: "response.function_call_arguments.done", output_index: 4, arguments: '{"late":true}' },
      end(),
    ];
    for (const response of [
      await responseTo(stream(...events)),
      await responseTo(
        completed({
          output: [
            call(0, "{}"),
            call(1, '{"n":1}'),
            call(2, null),
            { type: "custom_tool_call", call_id: "call_c", name: "free", input: "4 + 4" },
            { ...call(4, { late: true }), name: "g" },
          ],
        }),
      ),
    ]) {
      expect(response.stopReason).toBe("tool-use");
      expect(response.toolCalls.map(({ id, name, input }) => [id, name, input])).toEqual([
        ["call_0x", "f", {}],
        ["call_1x", "f", { n: 1 }],
        ["call_2x", "f", {}],
        ["call_c", "free", "4 + 4"],
        ["call_4x", "g", { late: true }],
      ]);
      expect(response.content[3]).toMatchObject({ custom: true, inputText: "4 + 4" });
    }
    const cut = await responseTo(
      stream(
        begin,
        added(0, call(0, "")),
        delta("function_call_arguments", 0, '{"x"'),
        end({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }, "incomplete"),
      ),
    );
    expect([cut.stopReason, cut.rawStopReason, cut.toolCalls[0]?.input, cut.toolCalls[0]?.inputText]).toEqual([
      "max-tokens",
      "incomplete",
      undefined,
      '{"x"',
    ]);
    const made = await responseTo(completed({ output: [{ type: "function_call", name: "f", arguments: "{}" }] }));
    expect(made.toolCalls[0]?.id).toMatch(/^call_[0-9a-f]{32}$/);
  });

  it("tells calls apart that a server counts anew in each response (Bedrock)", async () => {
    const call = { type: "function_call", call_id: "call_0", name: "f", arguments: "{}" };
    expect(await backAs(completed({ output: [call] }))).toMatchObject([
      { call_id: "resp_1:call_0" },
      { type: "function_call_output", call_id: "resp_1:call_0" },
    ]);
  });

  it("has each part of a summary as thinking, and sends the whole item back with what is encrypted", async () => {
    const summary = [
      { type: "summary_text", text: "first" },
      { type: "summary_text", text: "second" },
    ];
    const item = { type: "reasoning", id: "rs_1", summary, encrypted_content: "sealed" };
    const events = [
      begin,
      added(0, { type: "reasoning", id: "rs_0", summary: [] }),
      delta("reasoning_summary_text", 0, "fir", { summary_index: 0 }),
      delta("reasoning_summary_text", 0, "st", { summary_index: 0 }),
      delta("reasoning_summary_text", 0, "second", { summary_index: 1 }),
      done(0, item),
      done(1, message("a")),
      end(),
    ];
    for (const form of [stream(...events), completed({ output: [item, message("a")] })]) {
      expect((await responseTo(form)).content.map((part) => (part.type === "thinking" ? part.text : part.type))).toEqual([
        "first",
        "second",
        "text",
      ]);
      // The id that came last is the one that counts: GitHub Copilot changes it on the way.
      expect(await backAs(form)).toEqual([item, message("a")]);
      expect(await backAs(form, "other")).toEqual([{ role: "assistant", content: "a" }]);
    }
  });

  it("sends back reasoning that shows nothing but its seal, and shows reasoning that is open; what nothing follows stays away", async () => {
    const sealed = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "sealed" };
    expect((await responseTo(completed({ output: [sealed] }))).content).toMatchObject([
      { type: "thinking", text: "", providerData: { encrypted: "sealed" } },
    ]);
    expect(await backAs(completed({ output: [sealed, message("a")] }))).toEqual([sealed, message("a")]);
    expect(await backAs(completed({ output: [sealed] }))).toEqual([]);
    const open = { type: "reasoning", id: "rs_1", summary: [], content: [{ type: "reasoning_text", text: "why" }] };
    const streamed = stream(
      begin,
      added(0, { ...open, content: [] }),
      delta("reasoning_text", 0, "w"),
      delta("reasoning_text", 0, "hy"),
      done(0, open),
      done(1, message("a")),
      end(),
    );
    for (const form of [streamed, completed({ output: [open, message("a")] })]) {
      expect((await responseTo(form)).content[0]).toMatchObject({ type: "thinking", text: "why" });
      expect(await backAs(form)).toEqual([open, message("a")]);
    }
    const bare = { type: "reasoning", id: "rs_1", summary: [] };
    expect(await backAs(completed({ output: [bare, message("a")] }))).toEqual([message("a")]);
    // Where the vendor keeps the response, he knows it by its id.
    expect(await backAs(completed({ store: true, output: [bare, message("a")] }))).toEqual([bare, message("a")]);
  });

  it("keeps reasoning, ids and items from another provider of the same model, who could not read them", async () => {
    const response = completed({ output: [{ type: "reasoning", id: "rs_1", summary: [], encrypted_content: "sealed" }, message("a")] });
    const { content } = await responseTo(response);
    const { sent, provider } = stub(undefined, { name: "azure" });
    await infer(provider, { model: "gpt-x", messages: [{ role: "assistant", content }] });
    expect(sent[0]?.body["input"]).toEqual([{ role: "assistant", content: "a" }]);
  });

  it("has a refusal as a part of its own, never as text [PV-03]", async () => {
    const item = {
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "completed",
      content: [{ type: "refusal", refusal: "I won't" }],
    };
    for (const form of [
      stream(begin, added(0, { ...item, content: [] }), delta("refusal", 0, "I "), delta("refusal", 0, "won't"), done(0, item), end()),
      completed({ output: [item] }),
    ]) {
      const response = await responseTo(form);
      expect([textOf(response), response.stopReason, response.content]).toMatchObject([
        "",
        "end-turn",
        [{ type: "refusal", text: "I won't" }],
      ]);
      expect(response.content).toHaveLength(1);
      expect(await backAs(form)).toEqual([item]);
    }
  });

  it("keeps what the server did for replay, with the words of it, and the image apart from the item that made it", async () => {
    const search = {
      type: "web_search_call",
      id: "ws_1",
      status: "completed",
      action: { type: "search", queries: ["tokyo"], query: "tokyo" },
    };
    const code = { type: "code_interpreter_call", id: "ci_1", code: "1+1", outputs: [{ type: "logs", logs: "2" }] };
    const image = {
      type: "image_generation_call",
      id: "ig_1",
      status: "completed",
      output_format: "webp",
      revised_prompt: "a cat",
      result: "QQ==",
    };
    const news = { type: "hologram_call", id: "h_1" };
    const items = [search, code, image, news, message("a")];
    for (const form of [completed({ output: items }), stream(begin, ...items.map((item, at) => done(at, item)), end({ output: items }))]) {
      const response = await responseTo(form);
      expect(response.content.map((part) => (part.type === "server-tool" ? [part.name, part.text] : part.type))).toEqual([
        ["web_search_call", "tokyo"],
        ["code_interpreter_call", "1+1\n2"],
        ["image_generation_call", "a cat"],
        "image",
        ["hologram_call", ""],
        "text",
      ]);
      expect(response.content[3]).toMatchObject({ mediaType: "image/webp", data: "QQ==" });
      expect(JSON.stringify(response.content[2])).not.toContain("QQ==");
      expect([response.toolCalls, response.stopReason]).toEqual([[], "end-turn"]);
      expect(await backAs(form)).toEqual(items);
      expect(await backAs(form, "other")).toEqual([
        { role: "assistant", content: "[web_search_call] tokyo\n[code_interpreter_call] 1+1\n2\n[image_generation_call] a cat\n[image]a" },
      ]);
    }
  });

  it("closes commands that the model wanted run here and nobody ran", async () => {
    const shell = { type: "local_shell_call", id: "lsh_1", call_id: "call_s", action: { type: "exec", command: ["ls", "-a"] } };
    const { content } = await responseTo(completed({ output: [shell] }));
    expect(content).toMatchObject([{ type: "server-tool", name: "local_shell_call", text: "ls -a" }]);
    const ask = async (user: Content): Promise<unknown> =>
      (await bodyOf({ messages: [textMessage("user", "q"), { role: "assistant", content }, { role: "user", content: [user] }] }))["input"];
    expect(await ask({ type: "text", text: "so?" })).toEqual([
      { role: "user", content: "q" },
      shell,
      { type: "local_shell_call_output", id: "call_s", output: "This call was not executed." },
      { role: "user", content: "so?" },
    ]);
    const output = { type: "local_shell_call_output", id: "call_s", output: "a b" };
    expect(await ask({ type: "other", raw: output, providerData: { wire: WIRE } })).toEqual([
      { role: "user", content: "q" },
      shell,
      output,
    ]);
  });

  it.each([
    [{ status: "completed" }, "end-turn", "completed"],
    [{ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }, "max-tokens", "incomplete"],
    [{ status: "incomplete", incomplete_details: { reason: "content_filter" } }, "content-filter", "incomplete"],
    [{ status: "incomplete", incomplete_details: { reason: "new" } }, "other", "incomplete"],
    [{ status: "queued", output: [] }, "other", "queued"],
    [{ status: "cancelled" }, "other", "cancelled"],
  ] as const)("with %j stops for %s, and is not asked for again [PV-04]", async (fields, stopReason, raw) => {
    const { sent, provider } = stub(completed(fields));
    expect(await infer(provider, { model: "m", messages: [textMessage("user", "hi")] })).toMatchObject({ stopReason, rawStopReason: raw });
    expect(sent).toHaveLength(1);
    const reason = "incomplete_details" in fields ? { incompleteReason: fields.incomplete_details.reason } : {};
    expect((await responseTo(completed(fields))).providerData).toEqual({ wire: WIRE, id: "resp_1", ...reason });
  });

  it("takes usage as it is sent, unknown where nothing is sent [PV-04]", async () => {
    expect(
      (
        await responseTo(
          completed({
            usage: {
              input_tokens: 10,
              output_tokens: 5,
              total_tokens: 99,
              input_tokens_details: { cached_tokens: 4, cache_write_tokens: 3 },
              output_tokens_details: { reasoning_tokens: 2 },
            },
          }),
        )
      ).usage,
    ).toEqual({ inputTokens: 10, outputTokens: 5, cacheReadTokens: 4, cacheCreationTokens: 3, reasoningTokens: 2 });
    expect((await responseTo(completed({ usage: null }))).usage).toEqual({
      inputTokens: null,
      outputTokens: null,
      cacheReadTokens: null,
      cacheCreationTokens: null,
      reasoningTokens: null,
    });
  });

  it("is read from its last event where its items were not streamed, and from its items where the last event is empty (ChatGPT)", async () => {
    const item = message("whole");
    for (const form of [
      stream(begin, end({ output: [item] })),
      stream(begin, done(0, item), end({ output: [] })),
      stream(begin, delta("output_text", 0, "whole"), end({ output: [] })),
      `: OPENROUTER PROCESSING\n\ndata: ${JSON.stringify(end({ output: [item] }))}\n\ndata: [DONE]\n\n`,
    ]) {
      const response = await responseTo(form);
      expect([textOf(response), response.content.length]).toEqual(["whole", 1]);
    }
  });

  it("keeps one segment open at a time when items interleave, and loses nothing", async () => {
    const sealed = { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "why" }], encrypted_content: "e" };
    const { provider } = stub(
      stream(
        begin,
        delta("reasoning_summary_text", 0, "why", { item_id: "rs_1", summary_index: 0 }),
        delta("output_text", 1, "a", { item_id: "msg_1" }),
        done(0, sealed),
        delta("output_text", 1, "b", { item_id: "msg_1" }),
        done(1, message("ab")),
        end(),
      ),
    );
    const events: InferEvent[] = [];
    for await (const event of provider.stream({ model: "gpt-x", messages: [textMessage("user", "hi")] })) events.push(event);
    expect(events.map((event) => event.type)).toEqual([
      "thinking-start",
      "thinking-delta",
      "thinking-end",
      "text-start",
      "text-delta",
      "text-end",
      "thinking-start",
      "thinking-end",
      "text-start",
      "text-delta",
      "text-end",
      "end",
    ]);
    expect(events[7]).toMatchObject({ providerData: { encrypted: "e" } });
  });
});

describe("a failure", () => {
  const failed = { code: "rate_limit_exceeded", message: "Too many." };
  it.each([
    ["an error event", stream(begin, { type: "error", error: { type: "tokens", ...failed } })],
    ["an error event as the API's reference has it", stream(begin, { type: "error", ...failed })],
    ["an error without a type", `data: ${JSON.stringify({ error: failed })}\n\n`],
    ["a failed response", stream(begin, delta("output_text", 0, "partial"), end({ status: "failed", error: failed }, "failed"))],
    ["a failed response in JSON", completed({ status: "failed", error: failed })],
    ["an error in JSON", { error: failed }],
  ])("comes as %s inside of a response of status 200 [PV-09]", async (_name, response) => {
    expect(await failureOf(response)).toMatchObject({
      kind: "rate-limit",
      code: "rate_limit_exceeded",
      message: expect.stringContaining("Too many."),
    });
  });

  it("of which no reason is given is the server's", async () => {
    expect(await failureOf(stream(begin, end({ status: "failed", error: null }, "failed")))).toMatchObject({ kind: "server-error" });
  });

  it("is every stream that stops before its last event, with or without [DONE] [PV-09]", async () => {
    const events = [
      begin,
      added(0, { type: "message", id: "msg_1", content: [] }),
      delta("output_text", 0, "a"),
      delta("output_text", 0, "b"),
      done(0, message("ab")),
    ];
    for (let length = 1; length <= events.length; length += 1) {
      for (const tail of ["", "data: [DONE]\n\n", "event: response.completed\ndata: {"])
        expect(await failureOf(stream(...events.slice(0, length)) + tail)).toMatchObject({ kind: "server-error", code: "stream-cut" });
    }
  });

  it.each([["[]"], ["{}"], ['"x"'], ["data: 5\n\n"], ["data: {\n\ndata: [DONE]\n\n"], [""]])(
    "is a response that is %j",
    async (response) => {
      expect(await failureOf(response)).toMatchObject({ kind: "invalid-response" });
    },
  );
});

it("lists OpenAI's models with what their ids tell", async () => {
  const { sent, provider } = stub({ data: [{ id: "gpt-5.4" }, { id: "text-embedding-3-small" }] });
  const models = await provider.listModels?.();
  expect(sent[0]?.url).toBe("https://api.openai.com/v1/models");
  expect(models).toMatchObject([
    { id: "gpt-5.4", capabilities: { toolCalling: true, effortLevels: true } },
    { capabilities: { toolCalling: false } },
  ]);
});
