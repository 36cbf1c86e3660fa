import { type InferResponse, type JsonObject, ModelError, type Provider, textMessage } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { createAiSdkProvider } from "./ai-sdk.ts";
import { createAnthropicProvider } from "./anthropic.ts";
import { createGeminiProvider } from "./gemini.ts";
import { infer } from "./infer.ts";
import { createOllamaProvider } from "./ollama.ts";
import { createOpenAiResponsesProvider } from "./openai-responses.ts";

function served(create: (options: { apiKey: string; fetch: () => Promise<Response> }) => Provider, body: string): Promise<InferResponse> {
  const provider = create({ apiKey: "k", fetch: async () => new Response(body) });
  return infer(provider, { model: "m", messages: [textMessage("user", "hi")] });
}
const events = (...list: readonly JsonObject[]): string => list.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
const callsOf = ({ toolCalls }: InferResponse): unknown => toolCalls.map(({ name, input }) => ({ name, input }));
const READ = [{ name: "read", input: { path: "a.ts" } }];
const COPIES = ['{"path"', '{"path":"a.', '{"path":"a.ts"}', '{"path":"a.ts"}'];

describe("a call on the wire of Anthropic", () => {
  const anthropic = (...blocks: readonly JsonObject[]): string =>
    events(
      { type: "message_start", message: { id: "m", model: "m", content: [] } },
      ...blocks,
      { type: "message_delta", delta: { stop_reason: "tool_use" } },
      { type: "message_stop" },
    );
  const start = { type: "content_block_start", index: 1, content_block: { type: "tool_use", id: "toolu_1", name: "read", input: {} } };
  const piece = (partial_json: string, index = 1): JsonObject => ({
    type: "content_block_delta",
    index,
    delta: { type: "input_json_delta", partial_json },
  });

  it("has the arguments that a gateway sends as growing copies", async () => {
    expect(callsOf(await served(createAnthropicProvider, anthropic(start, ...COPIES.map((text) => piece(text)))))).toEqual(READ);
  });

  it("is one call though its start is repeated, and has arguments whose index names no block", async () => {
    const body = anthropic(start, piece('{"path":', 0), start, piece('"a.ts"}', 0), { type: "content_block_stop", index: 1 });
    expect(callsOf(await served(createAnthropicProvider, body))).toEqual(READ);
  });

  it("is not run without arguments that come behind its end", async () => {
    const body = anthropic(start, { type: "content_block_stop", index: 1 }, piece('{"path":"a.ts"}'));
    const failure = await served(createAnthropicProvider, body).catch((error: unknown) => error);
    expect(ModelError.is(failure, "invalid-response")).toBe(true);
  });
});

describe("a call on the wire of the Responses API", () => {
  it("has the arguments that a gateway sends as growing copies, and those of its final form", async () => {
    const item = { type: "function_call", id: "fc_1", call_id: "call_a", name: "read", arguments: "" };
    const type = "response.function_call_arguments.delta";
    const body = (...deltas: readonly string[]): string =>
      events(
        { type: "response.output_item.added", output_index: 0, item },
        ...deltas.map((delta) => ({ type, output_index: 0, delta })),
        { type: "response.output_item.done", output_index: 0, item: { ...item, arguments: '{"path":"a.ts"}' } },
        { type: "response.completed", response: { id: "r", status: "completed", output: [] } },
      );
    expect(callsOf(await served(createOpenAiResponsesProvider, body(...COPIES)))).toEqual(READ);
    expect(callsOf(await served(createOpenAiResponsesProvider, body('{"path":')))).toEqual(READ);
  });
});

describe("a call on wires whose calls come whole", () => {
  it("is one call if Ollama or Gemini sends it again with its id, and two calls without ids", async () => {
    const line = (calls: readonly JsonObject[], done = false): string =>
      `${JSON.stringify({ model: "m", message: { role: "assistant", content: "", tool_calls: calls }, done })}\n`;
    const call = (id?: string): JsonObject => ({ ...(id && { id }), function: { name: "read", arguments: { path: "a.ts" } } });
    expect(callsOf(await served(createOllamaProvider, line([call("c1")]) + line([call("c1")], true)))).toEqual(READ);
    expect(callsOf(await served(createOllamaProvider, line([call(), call()], true)))).toEqual([...READ, ...READ]);
    const chunk = (id: string | undefined, finishReason?: string): JsonObject => ({
      candidates: [
        {
          content: { role: "model", parts: [{ functionCall: { ...(id && { id }), name: "read", args: { path: "a.ts" } } }] },
          ...(finishReason && { finishReason }),
        },
      ],
    });
    expect(callsOf(await served(createGeminiProvider, events(chunk("c1"), chunk("c1", "STOP"))))).toEqual(READ);
    expect(callsOf(await served(createGeminiProvider, events(chunk(undefined), chunk(undefined, "STOP"))))).toEqual([...READ, ...READ]);
  });

  it("is one of several calls if a model of the AI SDK gives all of them the same id", async () => {
    const parts = [
      { type: "tool-input-start", id: "", toolName: "read" },
      ...COPIES.map((delta) => ({ type: "tool-input-delta", id: "", delta })),
      { type: "tool-call", toolCallId: "", toolName: "read", input: '{"path":"a.ts"}' },
      { type: "tool-call", toolCallId: "", toolName: "read", input: '{"path":"a.ts"}' },
      { type: "tool-call", toolCallId: "", toolName: "read", input: '{"path":"b.ts"}' },
      { type: "finish", usage: {}, finishReason: "tool-calls" },
    ];
    const provider = createAiSdkProvider({
      specificationVersion: "v2",
      provider: "p",
      modelId: "m",
      doStream: async () => ({ stream: ReadableStream.from(parts) }),
    });
    const response = await infer(provider, { model: "m", messages: [textMessage("user", "hi")] });
    expect(callsOf(response)).toEqual([...READ, { name: "read", input: { path: "b.ts" } }]);
  });
});
