import { textMessage } from "@keelson/protocol";
import type { ModelInfo, Provider } from "@keelson/protocol";
import { infer } from "keelson/providers";
import { createAnthropicProvider } from "keelson/providers/anthropic";
import { createGeminiProvider } from "keelson/providers/gemini";
import { createOllamaProvider } from "keelson/providers/ollama";
import { createOpenAiChatProvider } from "keelson/providers/openai-chat";
import { createOpenAiResponsesProvider } from "keelson/providers/openai-responses";
import { describe, expect, it } from "vitest";

interface Options {
  readonly apiKey: string;
  readonly fetch: (url: string) => Promise<Response>;
}

const withId = { data: [{ id: "some-model" }] };
const FACTORIES: readonly (readonly [string, (options: Options) => Provider, string, string, string, object])[] = [
  ["AnthropicProvider", createAnthropicProvider, "anthropic", "anthropic-messages", "/v1/messages", withId],
  ["OpenAiProvider", createOpenAiChatProvider, "openai", "openai-chat", "/v1/chat/completions", withId],
  ["the Codex provider", createOpenAiResponsesProvider, "openai", "openai-responses", "/v1/responses", withId],
  ["OllamaProvider", createOllamaProvider, "ollama", "ollama-chat", "/api/chat", { models: [{ name: "some-model" }] }],
  [
    "Gemini's provider",
    createGeminiProvider,
    "gemini",
    "gemini",
    "/v1beta/models/some-model:",
    { models: [{ name: "models/some-model" }] },
  ],
];

/** What the list of models of each vendor says of one model, where the vendor tells nothing but its name. */
async function listed(make: (options: Options) => Provider, listing: object): Promise<ModelInfo> {
  const models = await make({ apiKey: "k", fetch: async () => Response.json(listing) }).listModels?.();
  expect(models).toHaveLength(1);
  return models?.[0] as ModelInfo;
}

describe.each(FACTORIES)("%s of the sources", (_name, make, name, wire, path, listing) => {
  it("is made by a function, has its vendor's name, and speaks to that vendor's API [PV-06]", async () => {
    const asked: string[] = [];
    const provider = make({ apiKey: "k", fetch: async (url) => (asked.push(url), new Response("{}", { status: 400 })) });
    expect([provider.name, provider.wire]).toEqual([name, wire]);
    await expect(infer(provider, { model: "some-model", messages: [textMessage("user", "hi")] })).rejects.toThrow();
    expect(asked).toEqual([expect.stringContaining(path)]);
  });

  it("lists models with every fact there is a place for, and null for what nobody told [MC-01]", async () => {
    const { capabilities: _, supportedEffortLevels, ...told } = await listed(make, listing);
    expect(told).toEqual({
      id: "some-model",
      displayName: "some-model",
      description: expect.any(String),
      contextWindow: null,
      maxOutputTokens: null,
    });
    expect(["low", "medium", "high", "max"]).toEqual(expect.arrayContaining([...supportedEffortLevels]));
  });

  it("says yes or no to each thing a model can do, and names levels of effort only where there are some [MC-02]", async () => {
    const { capabilities, supportedEffortLevels } = await listed(make, listing);
    const names = ["effortLevels", "streaming", "structuredOutput", "toolCalling", "vision"];
    expect(Object.keys(capabilities).sort()).toEqual(names);
    expect(Object.values(capabilities).every((can) => typeof can === "boolean")).toBe(true);
    expect(supportedEffortLevels.length > 0).toBe(capabilities.effortLevels);
  });
});
