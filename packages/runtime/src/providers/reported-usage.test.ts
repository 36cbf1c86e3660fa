import { ModelError, type ModelFailure, type Provider } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import type { ServerTurn } from "../testing/model-server.ts";
import { startModelServer } from "../testing/model-server.ts";
import { createAnthropicProvider } from "./anthropic.ts";
import { createGeminiProvider } from "./gemini.ts";
import { infer } from "./infer.ts";
import { createOllamaProvider } from "./ollama.ts";
import { createOpenAiChatProvider } from "./openai-chat.ts";
import { createOpenAiResponsesProvider } from "./openai-responses.ts";

const request = { model: "gemini-3-test", messages: [{ role: "user" as const, content: [{ type: "text" as const, text: "hi" }] }] };
const usage = { inputTokens: 30, outputTokens: 900 };
const said: ServerTurn = { text: "a few words that were seen of it", usage };

const wires: { readonly [wire: string]: (url: string) => Provider } = {
  "anthropic-messages": (url) => createAnthropicProvider({ baseUrl: url, apiKey: "k" }),
  "openai-chat": (url) => createOpenAiChatProvider({ baseUrl: `${url}/v1`, apiKey: "k" }),
  "openai-responses": (url) => createOpenAiResponsesProvider({ baseUrl: `${url}/v1`, apiKey: "k" }),
  "gemini": (url) => createGeminiProvider({ baseUrl: url, apiKey: "k" }),
  "ollama-chat": (url) => createOllamaProvider({ baseUrl: url }),
};

async function failureOf(wire: string, turn: ServerTurn): Promise<ModelFailure> {
  await using server = await startModelServer([turn]);
  const error: unknown = await infer((wires[wire] as (url: string) => Provider)(server.url), request).catch((thrown: unknown) => thrown);
  if (!ModelError.is(error)) throw new Error(`it did not fail: ${JSON.stringify(error)}`);
  return error.failure;
}

function respondingWith(body: string, contentType = "text/event-stream"): ServerTurn {
  return { misbehave: { body, contentType } };
}

describe.each(Object.keys(wires))("a failed request over %s", (wire) => {
  it("says whether it was refused, or a response to it began", async () => {
    expect(await failureOf(wire, { status: 503 })).toMatchObject({ status: 503, progress: "refused" });
    expect(await failureOf(wire, { status: 429 })).toMatchObject({ status: 429, progress: "refused" });
    expect(await failureOf(wire, respondingWith("<html>hello</html>", "text/html"))).toMatchObject({ progress: "begun" });
    expect(await failureOf(wire, { ...said, misbehave: { errorInStream: { message: "we broke" } } })).toMatchObject({ progress: "begun" });
    expect(await failureOf(wire, { ...said, misbehave: { resetAfterBytes: 200 } })).toMatchObject({ progress: "begun" });
  });

  it("has no usage where the vendor had not counted the whole response, whatever he had counted until then", async () => {
    for (const misbehave of [{ resetAfterBytes: 250 }, { errorInStream: { message: "we broke" } }, { garbage: '{"half' }])
      expect(await failureOf(wire, { ...said, misbehave })).not.toHaveProperty("usage");
  });
});

describe("an error with the status 200 before any content", () => {
  const sse = (...events: readonly object[]): ServerTurn =>
    respondingWith(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
  const json = (value: object): ServerTurn => respondingWith(`${JSON.stringify(value)}\n`, "application/json");
  const limited = { error: { code: 429, message: "Provider returned error", status: "RESOURCE_EXHAUSTED" } };
  const overloaded = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
  const started = { type: "message_start", message: { id: "m", content: [], usage: { input_tokens: 30, output_tokens: 1 } } };
  const text = { choices: [{ index: 0, delta: { content: "hi" } }] };
  const tooLong = { error: { message: "too long", code: "context_length_exceeded" } };

  it.each<[string, string, ServerTurn, ModelFailure["kind"]]>([
    ...Object.keys(wires).map((wire) => ["a rate limit as JSON", wire, json(limited), "rate-limit"] as const),
    ["a rate limit as an event", "openai-chat", sse(limited), "rate-limit"],
    ["a rate limit as an event", "gemini", sse(limited), "rate-limit"],
    ["an overload as an event", "anthropic-messages", sse(overloaded), "server-error"],
    ["a wrong key", "openai-chat", json({ error: { message: "no", type: "authentication_error" } }), "authentication"],
    ["no credit", "openai-chat", json({ error: { message: "no", code: "insufficient_quota" } }), "billing"],
    ["a conversation that is too long", "openai-responses", sse({ type: "error", ...tooLong }), "context-overflow"],
  ] as [string, string, ServerTurn, ModelFailure["kind"]][])("is a refusal: %s over %s", async (_, wire, turn, kind) => {
    expect(await failureOf(wire, turn)).toMatchObject({ kind, progress: "refused" });
  });

  it.each<[string, string, ServerTurn]>([
    ["another event", "anthropic-messages", sse(started, overloaded)],
    ["content", "openai-chat", sse(text, limited)],
    [
      "content in the same body",
      "gemini",
      respondingWith(JSON.stringify([{ candidates: [{ content: { parts: [{ text: "hi" }] } }] }, limited])),
    ],
    [
      "content in an earlier line",
      "ollama-chat",
      respondingWith(`${JSON.stringify({ message: { content: "hi" } })}\n${JSON.stringify(limited)}\n`),
    ],
  ])("is no refusal behind %s over %s", async (_, wire, turn) => {
    expect(await failureOf(wire, turn)).toMatchObject({ progress: "begun" });
  });

  it("is no refusal if its code does not say that the model never ran", async () => {
    expect(await failureOf("openai-chat", json({ error: { message: "we broke", code: 500 } }))).toMatchObject({ progress: "begun" });
  });
});

describe("a stream that breaks off behind its usage is billed by it", () => {
  it("over Messages", async () => {
    expect(await failureOf("anthropic-messages", { ...said, misbehave: { omitEnd: true } })).toMatchObject({ usage });
  });

  it("over Chat Completions, where an error follows it, or the reason of its end is left out", async () => {
    const chunk = (more: object): string => `data: ${JSON.stringify({ id: "c", ...more })}\n\n`;
    const counts = { usage: { prompt_tokens: 30, completion_tokens: 900, total_tokens: 930 } };
    const text = chunk({ choices: [{ index: 0, delta: { content: "hi" } }] });
    expect(await failureOf("openai-chat", respondingWith(text + chunk({ choices: [], ...counts })))).toMatchObject({ usage });
    const finished = chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }], ...counts });
    const error = chunk({ error: { message: "we broke", code: 500 } });
    expect(await failureOf("openai-chat", respondingWith(text + finished + error))).toMatchObject({ usage });
    // Counted with each piece, as some do: that is no report of the whole.
    const counted = chunk({ choices: [{ index: 0, delta: { content: "hi" } }], ...counts });
    expect(await failureOf("openai-chat", respondingWith(counted + counted))).not.toHaveProperty("usage");
  });

  it("over Responses, whose failed responses are told with their usage", async () => {
    const response = {
      id: "r",
      status: "failed",
      error: { code: "server_error", message: "we broke" },
      usage: { input_tokens: 30, output_tokens: 900 },
    };
    const body = `data: ${JSON.stringify({ type: "response.failed", response })}\n\n`;
    expect(await failureOf("openai-responses", respondingWith(body))).toMatchObject({
      usage,
      message: expect.stringContaining("we broke"),
    });
  });

  it("over Gemini, whose every piece counts, from the reason of its end on", async () => {
    const counts = { usageMetadata: { promptTokenCount: 30, candidatesTokenCount: 100, thoughtsTokenCount: 800 } };
    const piece = (more: object): string =>
      `data: ${JSON.stringify({ candidates: [{ index: 0, content: { role: "model", parts: [{ text: "hi" }] }, ...more }], ...counts })}\n\n`;
    const error = `data: ${JSON.stringify({ error: { code: 503, message: "we broke", status: "UNAVAILABLE" } })}\n\n`;
    expect(await failureOf("gemini", respondingWith(piece({}) + error))).not.toHaveProperty("usage");
    expect(await failureOf("gemini", respondingWith(piece({ finishReason: "STOP" }) + error))).toMatchObject({ usage });
  });
});

it("thinking that a report without a total leaves out of its output is counted", async () => {
  const counts = { prompt_tokens: 30, completion_tokens: 10, completion_tokens_details: { reasoning_tokens: 890 } };
  const body = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: "hi" }, finish_reason: "stop" }], usage: counts })}\n\ndata: [DONE]\n\n`;
  await using server = await startModelServer([respondingWith(body)]);
  expect((await infer((wires["openai-chat"] as (url: string) => Provider)(server.url), request)).usage).toMatchObject(usage);
});
