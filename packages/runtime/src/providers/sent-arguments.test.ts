import { type InferResponse, type JsonObject, type JsonValue, type Provider, textMessage } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { createAnthropicProvider } from "./anthropic.ts";
import { createGeminiProvider } from "./gemini.ts";
import { infer } from "./infer.ts";
import { createOllamaProvider } from "./ollama.ts";
import { createOpenAiChatProvider } from "./openai-chat.ts";
import { createOpenAiResponsesProvider } from "./openai-responses.ts";

type Create = (options: { apiKey: string; fetch: () => Promise<Response> }) => Provider;

async function callsOf(create: Create, body: string): Promise<unknown> {
  const provider = create({ apiKey: "k", fetch: async () => new Response(body) });
  const { toolCalls }: InferResponse = await infer(provider, { model: "m", messages: [textMessage("user", "hi")] });
  return toolCalls.map(({ name, input }) => ({ name, input }));
}
const events = (...list: readonly JsonObject[]): string => list.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");

const chat = (call: JsonValue): string =>
  JSON.stringify({ choices: [{ message: { role: "assistant", content: "I look.", tool_calls: call }, finish_reason: "tool_calls" }] });
const chatStream = (call: JsonValue): string =>
  events({ choices: [{ delta: { content: "I look." } }] }, { choices: [{ delta: { tool_calls: call }, finish_reason: "tool_calls" }] });
const ollama = (call: JsonValue, done_reason = "stop"): string =>
  `${JSON.stringify({ model: "m", message: { role: "assistant", content: "I look.", tool_calls: call }, done: true, done_reason })}\n`;
const gemini = (...parts: readonly JsonObject[]): string => JSON.stringify({ candidates: [{ content: { parts }, finishReason: "STOP" }] });
const responses = (...output: readonly JsonObject[]): string => JSON.stringify({ id: "r", status: "completed", output });
const anthropic = (block: JsonObject, ...pieces: readonly JsonValue[]): string =>
  events(
    { type: "message_start", message: { id: "m", model: "m", content: [] } },
    { type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "toolu_1", ...block } },
    ...pieces.map((partial_json) => ({ type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json } })),
    { type: "message_delta", delta: { stop_reason: "tool_use" } },
    { type: "message_stop" },
  );

const a = { path: "a.ts" };
const text = JSON.stringify(a);
const item = { type: "function_call", id: "fc_1", call_id: "call_1", name: "read" };
const added = { type: "response.output_item.added", output_index: 0, item: { ...item, arguments: "" } };
const delta = { type: "response.function_call_arguments.delta", output_index: 0, delta: a };
const completed = { type: "response.completed", response: { id: "r", status: "completed", output: [] } };

describe("the arguments of a call", () => {
  it.each<[string, Create, string]>([
    ["stand beside the id on the chat wire", createOpenAiChatProvider, chat([{ id: "c", name: "read", arguments: a }])],
    [
      "stand beside the id of a chat fragment",
      createOpenAiChatProvider,
      chatStream([{ index: 0, id: "c", name: "read", arguments: text }]),
    ],
    ["are called parameters", createOpenAiChatProvider, chat([{ id: "c", function: { name: "read", parameters: a } }])],
    ["are called input in a chat fragment", createOpenAiChatProvider, chatStream([{ id: "c", function: { name: "read", input: a } }])],
    ["are called parameters by Ollama", createOllamaProvider, ollama([{ function: { name: "read", parameters: a } }])],
    ["stand beside nothing at Ollama", createOllamaProvider, ollama([{ name: "read", arguments: a }])],
    ["stand in one call without a list at Ollama", createOllamaProvider, ollama({ function: { name: "read", arguments: a } })],
    ["end with the reason of the chat wire", createOllamaProvider, ollama([{ function: { name: "read", arguments: a } }], "tool_calls")],
    ["are called arguments on Gemini's wire", createGeminiProvider, gemini({ functionCall: { name: "read", arguments: a } })],
    ["stand beside a text in a part of Gemini", createGeminiProvider, gemini({ text: "I look.", functionCall: { name: "read", args: a } })],
    ["stand in a part with Python's spelling", createGeminiProvider, gemini({ function_call: { name: "read", args: a } })],
    ["are called input on the Responses wire", createOpenAiResponsesProvider, responses({ ...item, input: a })],
    ["come as an object in a delta", createOpenAiResponsesProvider, events(added, delta, completed)],
    ["come as an object in a delta of Anthropic's wire", createAnthropicProvider, anthropic({ name: "read", input: {} }, a)],
    ["come before an empty delta on Anthropic's wire", createAnthropicProvider, anthropic({ name: "read", input: a }, "{}")],
    ["are called arguments on Anthropic's wire", createAnthropicProvider, anthropic({ name: "read", arguments: a })],
  ])("reach the tool if they %s", async (_, create, body) => {
    expect(await callsOf(create, body)).toEqual([{ name: "read", input: a }]);
  });
});

describe("a call without a name", () => {
  it.each<[string, Create, string]>([
    ["the chat wire", createOpenAiChatProvider, chat([{ id: "c", function: { name: "", arguments: text } }])],
    ["a chat stream", createOpenAiChatProvider, chatStream([{ index: 0, id: "c", function: { name: null, arguments: text } }])],
    ["Ollama's wire", createOllamaProvider, ollama([{ function: { name: "", arguments: a } }])],
    ["Gemini's wire", createGeminiProvider, gemini({ text: "I look." }, { functionCall: { name: "", args: a } })],
    ["the Responses wire", createOpenAiResponsesProvider, responses({ ...item, name: "", arguments: text })],
    ["Anthropic's wire", createAnthropicProvider, anthropic({ name: "", input: a })],
  ])("stays a call on %s if it has arguments, so that the model is told of it", async (_, create, body) => {
    expect(await callsOf(create, body)).toEqual([{ name: "", input: a }]);
  });

  it("is none if it has no arguments, or those of a call before it", async () => {
    expect(await callsOf(createOpenAiChatProvider, chat([{ id: "c", function: { name: "", arguments: "" } }]))).toEqual([]);
    expect(await callsOf(createOllamaProvider, ollama([{ function: { name: "", arguments: {} } }]))).toEqual([]);
    const named = { index: 0, id: "c", function: { name: "read", arguments: text } };
    const body = chatStream([named, { index: 1, function: { arguments: text } }]);
    expect(await callsOf(createOpenAiChatProvider, body)).toEqual([{ name: "read", input: a }]);
  });
});

describe("calls of a response with the same id", () => {
  it("are several calls on the Responses wire if their arguments differ", async () => {
    const first = { ...item, arguments: text };
    const second = { ...item, arguments: '{"path":"b.ts"}' };
    const both = [
      { name: "read", input: a },
      { name: "read", input: { path: "b.ts" } },
    ];
    expect(await callsOf(createOpenAiResponsesProvider, responses(first, second))).toEqual(both);
    const done = [first, second].map((each, at) => ({ type: "response.output_item.done", output_index: at, item: each }));
    const end = { ...completed, response: { id: "r", status: "completed", output: [first, second] } };
    expect(await callsOf(createOpenAiResponsesProvider, events(...done, end))).toEqual(both);
  });
});
