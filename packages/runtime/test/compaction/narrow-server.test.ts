import { createAgent, createRunner, defineTool } from "keelson";
import { summarise } from "keelson/context";
import { createModelRegistry } from "keelson/providers";
import { createAnthropicProvider } from "keelson/providers/anthropic";
import { createGeminiProvider } from "keelson/providers/gemini";
import { createOllamaProvider } from "keelson/providers/ollama";
import { createOpenAiChatProvider } from "keelson/providers/openai-chat";
import { createOpenAiResponsesProvider } from "keelson/providers/openai-responses";
import { requestMessages, type ServerRequest, type ServerTurn, startModelServer } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { sampleSize } from "../../../../test/tier.ts";

const TURNS = sampleSize("turns of a session with a server that refuses 32k tokens", { test: 60, ci: 300, soak: 300 });
const WINDOW = 32_000;
const BYTES_PER_TOKEN = 4;

/** What each vendor says where a request is too long. */
const REFUSALS: { readonly [model: string]: (tokens: number) => ServerTurn } = {
  "anthropic/claude-sonnet-5": (tokens) => ({
    status: 400,
    error: { type: "invalid_request_error", message: `prompt is too long: ${tokens} tokens > ${WINDOW} maximum` },
  }),
  "openai/gpt-5": (tokens) => ({
    status: 400,
    error: {
      type: "invalid_request_error",
      code: "context_length_exceeded",
      message: `This model's maximum context length is ${WINDOW} tokens. However, your messages resulted in ${tokens} tokens.`,
    },
  }),
  "openai-responses/gpt-5": () => ({
    status: 400,
    error: {
      type: "invalid_request_error",
      code: "context_length_exceeded",
      message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
    },
  }),
  "gemini/gemini-3-pro": (tokens) => ({
    status: 400,
    error: { message: `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${WINDOW}).` },
  }),
  "ollama/qwen3": (tokens) => ({
    status: 400,
    error: { message: `input length (${tokens}) exceeds the context length (${WINDOW})` },
  }),
};

const PAGE = "The quick brown fox jumps over the lazy dog, and then it sleeps. ".repeat(50);

function tokensOf({ body }: ServerRequest): number {
  return Math.ceil(JSON.stringify(body).length / BYTES_PER_TOKEN);
}

function isSummary(request: ServerRequest): boolean {
  return requestMessages(request).some(({ role, text }) => role === "system" && text.startsWith("Summarise"));
}

describe.each(Object.entries(REFUSALS))("a long session with %s whose server refuses requests of 32k tokens", (model, refusal) => {
  it.each([
    ["with nothing said of compaction", undefined, TURNS],
    ["with summaries that are due at half of that", { strategy: summarise(), when: { maxTokens: 16_000 } }, 30],
  ])("ends complete, %s", { timeout: 600_000 }, async (_case, compaction, turns) => {
    let read = 0;
    let refused = 0;
    let largest = 0;
    await using server = await startModelServer((request): ServerTurn => {
      const tokens = tokensOf(request);
      if (tokens > WINDOW) {
        refused++;
        return refusal(tokens);
      }
      largest = Math.max(largest, tokens);
      if (isSummary(request)) return { text: `They read ${read} pages.` };
      read++;
      if (read >= turns) return { text: "Read it all." };
      return { text: `Page ${read}. ${read % 7 === 0 ? PAGE : ""}`, toolCalls: [{ name: "read", input: { page: read } }] };
    });
    const { url, openAiUrl } = server;
    const apiKey = "test";
    const models = createModelRegistry({
      providers: {
        "anthropic": createAnthropicProvider({ apiKey, baseUrl: url }),
        "openai": createOpenAiChatProvider({ apiKey, baseUrl: openAiUrl }),
        "openai-responses": createOpenAiResponsesProvider({ apiKey, baseUrl: openAiUrl, name: "openai-responses" }),
        "gemini": createGeminiProvider({ apiKey, baseUrl: url }),
        "ollama": createOllamaProvider({ apiKey, baseUrl: url }),
      },
    });
    const page = defineTool({
      name: "read",
      description: "Reads a page.",
      effect: "read",
      input: { type: "object", properties: { page: { type: "integer" } }, required: ["page"] },
      execute: (input) => `Page ${JSON.stringify(input)}. ${PAGE}`,
    });
    const agent = createAgent({ name: "reader", model, tools: [page], limits: { maxTurns: turns + 1 }, ...(compaction && { compaction }) });
    const outcome = await createRunner({ agent, models }).run(`Read ${turns} pages.`).outcome;
    expect(outcome).toMatchObject({ reason: "complete", text: "Read it all.", turns });
    expect(server.refused).toEqual([]);
    if (compaction === undefined) expect(refused).toBeGreaterThan(0);
    else expect(refused).toBe(0);
    // A tenth of the turns would be a loop.
    expect(refused).toBeLessThan(turns / 5);
    const last = server.requests.filter((request) => !isSummary(request)).at(-1) as ServerRequest;
    expect(requestMessages(last).some(({ text }) => text.includes(`Read ${turns} pages.`))).toBe(true);
  });
});
