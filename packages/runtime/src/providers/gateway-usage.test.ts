import { type JsonObject, type Provider, textMessage, type Usage } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { createAnthropicProvider } from "./anthropic.ts";
import { createGeminiProvider } from "./gemini.ts";
import { infer } from "./infer.ts";
import { createOpenAiChatProvider } from "./openai-chat.ts";
import { createOpenAiResponsesProvider } from "./openai-responses.ts";

async function usageOf(create: (options: { apiKey: string; fetch: () => Promise<Response> }) => Provider, body: string): Promise<Usage> {
  const provider = create({ apiKey: "k", fetch: async () => new Response(body) });
  return (await infer(provider, { model: "m", messages: [textMessage("user", "hi")] })).usage;
}

/** A stream of Anthropic's wire with a report at its start and one at its end. */
function reported(start: JsonObject, end: JsonObject): string {
  const events: readonly JsonObject[] = [
    { type: "message_start", message: { id: "m", model: "m", content: [], usage: start } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "hi" } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: end },
    { type: "message_stop" },
  ];
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}

describe("a report of a gateway on Anthropic's wire", () => {
  it.each<[string, JsonObject, JsonObject, number]>([
    ["is split between input and cache at the end", { input_tokens: 8834 }, { input_tokens: 18, cache_read_input_tokens: 8831 }, 8849],
    ["comes wholly from the cache", { input_tokens: 8834 }, { input_tokens: 0, cache_read_input_tokens: 8834 }, 8834],
    ["is repeated beside the cache that it holds", { input_tokens: 8834 }, { input_tokens: 8834, cache_read_input_tokens: 8000 }, 8834],
    ["is too small to hold the cache", { input_tokens: 834 }, { input_tokens: 834, cache_read_input_tokens: 8000 }, 8834],
    [
      "stands beside counts of the cache from the start",
      { input_tokens: 9, cache_read_input_tokens: 1 },
      { cache_read_input_tokens: 1 },
      10,
    ],
  ])("counts each token of a prompt once that %s", async (_, start, end, inputTokens) => {
    const usage = await usageOf(createAnthropicProvider, reported({ output_tokens: 0, ...start }, { output_tokens: 42, ...end }));
    expect(usage).toMatchObject({ inputTokens, outputTokens: 42, cacheReadTokens: end["cache_read_input_tokens"] });
  });
});

describe("a report on Anthropic's wire that names the written cache by its lifetimes", () => {
  const written = { ephemeral_5m_input_tokens: 300, ephemeral_1h_input_tokens: 20 };

  it.each<[string, JsonObject]>([
    ["without the sum", { input_tokens: 10, cache_creation: written }],
    ["beside a sum of null", { input_tokens: 10, cache_creation_input_tokens: null, cache_creation: written }],
    ["beside the sum", { input_tokens: 10, cache_creation_input_tokens: 320, cache_creation: written }],
    [
      "in its iterations",
      { input_tokens: 10, iterations: [{ type: "message", input_tokens: 10, output_tokens: 42, cache_creation: written }] },
    ],
  ])("counts it %s", async (_, start) => {
    const usage = await usageOf(createAnthropicProvider, reported({ output_tokens: 0, ...start }, { output_tokens: 42 }));
    expect(usage).toMatchObject({ inputTokens: 330, outputTokens: 42, cacheCreationTokens: 320 });
  });
});

describe("a report under the names of another API", () => {
  it.each<[string, JsonObject, JsonObject, number | null]>([
    ["at both ends", { prompt_tokens: 100, completion_tokens: 0 }, { completion_tokens: 10 }, null],
    ["at the end alone", {}, { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }, null],
    [
      "beside zeros",
      { input_tokens: 0, output_tokens: 0 },
      { input_tokens: 0, output_tokens: 0, prompt_tokens: 100, completion_tokens: 10 },
      null,
    ],
    ["with the cache in the prompt", {}, { prompt_tokens: 100, completion_tokens: 10, prompt_tokens_details: { cached_tokens: 60 } }, 60],
    ["with Anthropic's names for the cache", {}, { prompt_tokens: 100, completion_tokens: 10, cache_read_input_tokens: 60 }, 60],
  ])("is read on Anthropic's wire: %s", async (_, start, end, cacheReadTokens) => {
    const usage = await usageOf(createAnthropicProvider, reported(start, end));
    expect(usage).toMatchObject({ inputTokens: 100, outputTokens: 10, cacheReadTokens });
  });

  it("is read on the chat wire and on that of the Responses API", async () => {
    const chat = { choices: [{ message: { content: "hi" }, finish_reason: "stop" }], usage: { input_tokens: 100, output_tokens: 10 } };
    expect(await usageOf(createOpenAiChatProvider, JSON.stringify(chat))).toMatchObject({ inputTokens: 100, outputTokens: 10 });
    const output = [{ type: "message", content: [{ type: "output_text", text: "hi" }] }];
    const responses = { status: "completed", output, usage: { prompt_tokens: 100, completion_tokens: 10 } };
    expect(await usageOf(createOpenAiResponsesProvider, JSON.stringify(responses))).toMatchObject({ inputTokens: 100, outputTokens: 10 });
  });
});

describe("a report on Gemini's wire", () => {
  const gemini = (counts: JsonObject): Promise<Usage> =>
    usageOf(
      createGeminiProvider,
      JSON.stringify({ candidates: [{ content: { parts: [{ text: "hi" }] }, finishReason: "STOP" }], ...counts }),
    );

  it.each([{ totalTokenCount: 110 }, { totalTokenCount: 110, cachedContentTokenCount: 50 }])(
    "without prompt and output is unknown: %j",
    async (counts) => {
      expect(await gemini({ usageMetadata: counts })).toMatchObject({ inputTokens: null, outputTokens: null });
    },
  );

  it("without a prompt counts no input as output", async () => {
    const counts = { candidatesTokenCount: 10, totalTokenCount: 110 };
    expect(await gemini({ usageMetadata: counts })).toMatchObject({ inputTokens: null, outputTokens: 10 });
  });

  it("without an output, which is 0 then, stays known", async () => {
    expect(await gemini({ usageMetadata: { promptTokenCount: 100, totalTokenCount: 100 } })).toMatchObject({
      inputTokens: 100,
      outputTokens: 0,
    });
  });

  it.each(["usage_metadata", "usageMetadata"])("is read in the spelling of Python, in %s", async (name) => {
    const counts = { prompt_token_count: 100, candidates_token_count: 10, thoughts_token_count: 5, cached_content_token_count: 60 };
    const usage = { inputTokens: 100, outputTokens: 15, cacheReadTokens: 60, reasoningTokens: 5 };
    expect(await gemini({ [name]: { ...counts, total_token_count: 115 } })).toMatchObject(usage);
  });
});
