import { compareUsd, type InferRequest, type JsonValue, type Usage } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AiSdkDecoder } from "./ai-sdk/ai-sdk-decoder.ts";
import { AnthropicDecoder } from "./anthropic/anthropic-decoder.ts";
import { GeminiDecoder } from "./gemini/gemini-decoder.ts";
import { InferFold } from "./infer-fold.ts";
import { infer } from "./infer.ts";
import type { ModelPrice } from "./model-price.ts";
import { OllamaDecoder } from "./ollama/ollama-decoder.ts";
import { ChatDecoder } from "./openai-chat/chat-decoder.ts";
import { createOpenAiCompatibleProvider } from "./openai-compatible.ts";
import { ResponsesDecoder } from "./openai-responses/responses-decoder.ts";
import type { DecodedEvent } from "./polled-events.ts";
import { costOf, worstCase } from "./prices.ts";
import { startModelServer } from "../testing/model-server.ts";
import type { WireDecoder } from "./wire-decoder.ts";

const MAX_OUTPUT = 4096;
const price: ModelPrice = { input: "3", output: "15", cacheRead: "0.3", cacheWrite: "3.75", asOf: "2026-01-01" };
const context = { wire: "w", provider: "p", model: "m", outputBound: MAX_OUTPUT };

function usageOf(events: readonly DecodedEvent[]): Usage {
  const fold = new InferFold();
  for (const event of events) if (event.type !== "text-run") fold.push(event);
  return fold.end?.usage as Usage;
}

function decoded(make: (queue: DecodedEvent[]) => WireDecoder, body: unknown): Usage {
  const queue: DecodedEvent[] = [];
  make(queue).whole(JSON.parse(JSON.stringify(body)) as JsonValue);
  return usageOf(queue);
}

/** Reads a report on each wire. */
const READ = {
  chat: (usage: object) =>
    decoded((queue) => new ChatDecoder(queue, context), {
      choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
      usage,
    }),
  anthropic: (usage: object) =>
    decoded((queue) => new AnthropicDecoder(queue, context), {
      type: "message",
      content: [{ type: "text", text: "hi" }],
      stop_reason: "end_turn",
      usage,
    }),
  responses: (usage: object) =>
    decoded((queue) => new ResponsesDecoder(queue, context), {
      status: "completed",
      output: [{ type: "message", content: [{ type: "output_text", text: "hi" }] }],
      usage,
    }),
  gemini: (usage: object) =>
    decoded((queue) => new GeminiDecoder(queue, context), {
      candidates: [{ index: 0, content: { parts: [{ text: "hi" }] }, finishReason: "STOP" }],
      usageMetadata: usage,
    }),
  ollama(usage: object): Usage {
    const queue: DecodedEvent[] = [];
    const line = JSON.stringify({ message: { content: "hi" }, done: true, done_reason: "stop", ...usage });
    new OllamaDecoder(queue, context).event(line, 0, line.length);
    return usageOf(queue);
  },
  aiSdk(usage: object): Usage {
    const queue: DecodedEvent[] = [];
    new AiSdkDecoder(queue as never, context, "p/m", undefined).part({ type: "finish", finishReason: "stop", usage });
    return usageOf(queue);
  },
} as const;

describe("a report of the chat wire", () => {
  it.each([
    [
      "of a Bedrock gateway, whose total holds the cache and whose prompt does not",
      { prompt_tokens: 400, completion_tokens: 20, total_tokens: 100_420, cache_read_input_tokens: 100_000 },
      { inputTokens: 100_400, outputTokens: 20, cacheReadTokens: 100_000 },
    ],
    [
      "with more cached tokens than the prompt, in OpenAI's member",
      { prompt_tokens: 400, completion_tokens: 20, total_tokens: 100_420, prompt_tokens_details: { cached_tokens: 100_000 } },
      { inputTokens: 100_400, outputTokens: 20, cacheReadTokens: 100_000 },
    ],
    [
      "with a total that is the plain sum, and more cached tokens than the prompt",
      { prompt_tokens: 400, completion_tokens: 20, total_tokens: 420, prompt_tokens_details: { cached_tokens: 1000 } },
      { inputTokens: 400, outputTokens: 20, cacheReadTokens: 1000 },
    ],
    [
      "without a total, with more cached tokens than the prompt",
      { prompt_tokens: 400, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 1000 } },
      { inputTokens: 1400, outputTokens: 20, cacheReadTokens: 1000 },
    ],
    [
      "that gives the cached tokens as read and as written",
      {
        prompt_tokens: 2168,
        completion_tokens: 100,
        total_tokens: 2268,
        prompt_tokens_details: { cached_tokens: 2161, cache_write_tokens: 2161 },
      },
      { inputTokens: 2168, outputTokens: 100, cacheReadTokens: 2161, cacheCreationTokens: 2161 },
    ],
    [
      "with a cache that was written beside the prompt, and a zero in another member",
      {
        prompt_tokens: 2000,
        completion_tokens: 20,
        total_tokens: 3320,
        cache_creation_input_tokens: 1300,
        prompt_tokens_details: { cached_tokens: 0 },
      },
      { inputTokens: 3300, outputTokens: 20, cacheReadTokens: 0, cacheCreationTokens: 1300 },
    ],
    [
      "of LiteLLM, whose prompt holds the cache",
      { prompt_tokens: 3300, completion_tokens: 20, total_tokens: 3320, cache_read_input_tokens: 3000, cache_creation_input_tokens: 200 },
      { inputTokens: 3300, outputTokens: 20, cacheReadTokens: 3000, cacheCreationTokens: 200 },
    ],
    [
      "of xAI, whose completion leaves reasoning out",
      { prompt_tokens: 100, completion_tokens: 20, total_tokens: 420, completion_tokens_details: { reasoning_tokens: 300 } },
      { inputTokens: 100, outputTokens: 320, reasoningTokens: 300 },
    ],
    [
      "with reasoning and cache beside its counts",
      {
        prompt_tokens: 2000,
        completion_tokens: 20,
        total_tokens: 3320,
        completion_tokens_details: { reasoning_tokens: 300 },
        cache_read_input_tokens: 1000,
      },
      { inputTokens: 3000, outputTokens: 320 },
    ],
    [
      "with a rest that no field explains",
      { prompt_tokens: 35, completion_tokens: 12, total_tokens: 109 },
      { inputTokens: 35, outputTokens: 74 },
    ],
    [
      "with a rest that no response can hold",
      { prompt_tokens: 400, completion_tokens: 20, total_tokens: 100_420 },
      { inputTokens: 400, outputTokens: 20 },
    ],
    ["with a total below the sum", { prompt_tokens: 400, completion_tokens: 20, total_tokens: 7 }, { inputTokens: 400, outputTokens: 20 }],
    ["in digits", { prompt_tokens: "400", completion_tokens: "20" }, { inputTokens: 400, outputTokens: 20 }],
    ["with an output beyond the limit of the request", { prompt_tokens: 400, completion_tokens: 9000 }, { outputTokens: 9000 }],
    ["with a negative count", { prompt_tokens: -400, completion_tokens: 20 }, { inputTokens: null, outputTokens: 20 }],
    ["with a fraction", { prompt_tokens: 400.5, completion_tokens: 20 }, { inputTokens: null }],
    ["with a count of no size", { prompt_tokens: 1e300, completion_tokens: 20 }, { inputTokens: null }],
  ])("%s", (_name, usage, expected) => {
    expect(READ.chat(usage)).toMatchObject(expected);
  });

  it("stands in the choice (Moonshot), and is not replaced by zeros behind it", async () => {
    const chunk = (value: object): string => `data: ${JSON.stringify({ id: "c", ...value })}\n\n`;
    const usage = { prompt_tokens: 30, completion_tokens: 9, total_tokens: 39, cached_tokens: 10 };
    const zeros = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
    const body =
      chunk({ choices: [{ index: 0, delta: { content: "hi" } }] }) +
      chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop", usage }] }) +
      chunk({ choices: [], usage: zeros }) +
      "data: [DONE]\n\n";
    await using server = await startModelServer([{ misbehave: { body, contentType: "text/event-stream" } }]);
    const provider = createOpenAiCompatibleProvider({ vendor: "moonshot", baseUrl: `${server.url}/v1`, apiKey: "k" });
    const request: InferRequest = { model: "m", messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }] };
    expect((await infer(provider, request)).usage).toMatchObject({ inputTokens: 30, outputTokens: 9, cacheReadTokens: 10 });
  });
});

describe("a report of another wire", () => {
  it("of Anthropic adds the cache once, also behind a gateway that counts it in the input", () => {
    const counts = { input_tokens: 400, output_tokens: 20, cache_read_input_tokens: 300 };
    expect(READ.anthropic(counts)).toMatchObject({ inputTokens: 700, cacheReadTokens: 300 });
    expect(READ.anthropic({ ...counts, total_tokens: 420 })).toMatchObject({ inputTokens: 400, cacheReadTokens: 300 });
    expect(READ.anthropic({ ...counts, total_tokens: 720 })).toMatchObject({ inputTokens: 700, cacheReadTokens: 300 });
  });

  it("of Gemini counts thoughts that the total alone holds, and no count that is none as zero", () => {
    expect(READ.gemini({ promptTokenCount: 30, candidatesTokenCount: 10, totalTokenCount: 140 })).toMatchObject({ outputTokens: 110 });
    expect(READ.gemini({ promptTokenCount: 30, thoughtsTokenCount: 7, toolUsePromptTokenCount: 5 })).toMatchObject({
      inputTokens: 35,
      outputTokens: 7,
    });
    expect(READ.gemini({ promptTokenCount: 30, candidatesTokenCount: -1 })).toMatchObject({ inputTokens: 30, outputTokens: null });
  });

  it("of Responses and of the AI SDK may leave the cache out of the input", () => {
    const cached = { input_tokens: 400, output_tokens: 20, total_tokens: 100_420, input_tokens_details: { cached_tokens: 100_000 } };
    expect(READ.responses(cached)).toMatchObject({ inputTokens: 100_400, outputTokens: 20 });
    const flat = { inputTokens: 400, outputTokens: 20, totalTokens: 420, cachedInputTokens: 1000 };
    expect(READ.aiSdk(flat)).toMatchObject({ inputTokens: 1400, outputTokens: 20, cacheReadTokens: 1000 });
  });
});

/** The members of each wire by what they count. `read` stands for everything that a vendor may have read of the request. */
const MEMBERS: { readonly [wire in keyof typeof READ]: { readonly read: readonly string[]; readonly other: readonly string[] } } = {
  chat: {
    read: ["prompt_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "prompt_tokens_details.cached_tokens"],
    other: ["completion_tokens", "total_tokens", "completion_tokens_details.reasoning_tokens"],
  },
  anthropic: {
    read: ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"],
    other: ["output_tokens", "total_tokens", "output_tokens_details.thinking_tokens"],
  },
  responses: {
    read: ["input_tokens", "input_tokens_details.cached_tokens", "input_tokens_details.cache_write_tokens"],
    other: ["output_tokens", "total_tokens", "output_tokens_details.reasoning_tokens"],
  },
  gemini: {
    read: ["promptTokenCount", "toolUsePromptTokenCount", "cachedContentTokenCount"],
    other: ["candidatesTokenCount", "thoughtsTokenCount", "totalTokenCount"],
  },
  ollama: { read: ["prompt_eval_count"], other: ["eval_count"] },
  aiSdk: { read: ["inputTokens", "cachedInputTokens"], other: ["outputTokens", "totalTokens", "reasoningTokens"] },
};

const reported = fc.oneof(
  { weight: 4, arbitrary: fc.nat(5000) },
  { weight: 3, arbitrary: fc.nat(200_000) },
  { weight: 1, arbitrary: fc.constantFrom(0, 4096, 4112, 100_000, 1e8, 1e9, 1e300, -1, 0.5, "17", "x", null, true, [], {}) },
);

function placed(members: readonly string[], values: readonly unknown[]): object {
  const usage: Record<string, unknown> = {};
  for (const [index, member] of members.entries()) {
    if (values[index] === undefined) continue;
    const [outer, inner] = member.split(".") as [string, string | undefined];
    if (inner === undefined) usage[outer] = values[index];
    else usage[outer] = { ...(usage[outer] as object | undefined), [inner]: values[index] };
  }
  return usage;
}

describe.each(Object.keys(READ) as readonly (keyof typeof READ)[])("the cost of a report over %s", (wire) => {
  it("is never above the price of all input that was reported, and of the output that was reported or that the request allows", () => {
    const { read, other } = MEMBERS[wire];
    // Gemini reports thoughts beside the candidates.
    const written = wire === "gemini" ? [0, 1] : [0];
    const values = fc.array(fc.option(reported, { nil: undefined }), { minLength: read.length + other.length, maxLength: 10 });
    fc.assert(
      fc.property(values, (given) => {
        const usage = READ[wire](placed([...read, ...other], given));
        for (const count of Object.values(usage)) expect(count === null || (Number.isInteger(count) && count >= 0)).toBe(true);
        const cost = costOf(usage, price);
        if (cost === null) return;
        const said = written.reduce((sum, index) => sum + Math.max(0, Number(given[read.length + index]) || 0), 0);
        const sent = given.slice(0, read.length).reduce((sum: number, value) => sum + Math.max(0, Number(value) || 0), 0);
        expect(compareUsd(cost, worstCase(Math.min(sent, 4e8), Math.max(MAX_OUTPUT, Math.min(said, 4e8)), price))).toBeLessThanOrEqual(0);
      }),
      { numRuns: 300 },
    );
  });
});
