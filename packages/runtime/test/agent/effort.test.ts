import { createAgent } from "keelson";
import type { AgentOptions } from "keelson/agent";
import { createAnthropicProvider } from "keelson/providers/anthropic";
import { createAiSdkProvider } from "keelson/providers/ai-sdk";
import { createGeminiProvider } from "keelson/providers/gemini";
import { createOllamaProvider } from "keelson/providers/ollama";
import { createOpenAiChatProvider } from "keelson/providers/openai-chat";
import { createOpenAiCompatibleProvider } from "keelson/providers/openai-compatible";
import { createOpenAiResponsesProvider } from "keelson/providers/openai-responses";
import type { Provider } from "@keelson/protocol";
import { expect, it } from "vitest";
import { runnerOf } from "./support.ts";

type Sent = { readonly [member: string]: unknown };

/** What goes over a wire when an agent asks; the answer is a refusal. */
async function sentBy(make: (fetch: typeof globalThis.fetch) => Provider, model: string, options: Partial<AgentOptions>): Promise<Sent> {
  let sent: Sent = {};
  const provider = make(async (_url, init) => {
    sent = JSON.parse(await new Response(init?.body).text()) as Sent;
    return Response.json({ error: { message: "no" } }, { status: 400 });
  });
  const choice = { ...provider, name: `wire/${model}`, stream: provider.stream.bind(provider) } as Provider;
  const { error } = await runnerOf(createAgent({ name: "a", model: choice, ...options })).run("go").outcome;
  expect(error?.failure).toMatchObject({ kind: "model", model: { kind: "invalid-request" } });
  return sent;
}

const apiKey = "k";
const high = { effort: "high", thinking: { type: "enabled", budgetTokens: 2000 } } as const;
const off = { thinking: { type: "disabled" } } as const;

it.each<[string, (fetch: typeof globalThis.fetch) => Provider, string, object, object]>([
  [
    "Anthropic's",
    (fetch) => createAnthropicProvider({ apiKey, fetch }),
    "claude-opus-4-6",
    { thinking: { type: "enabled", budget_tokens: 2000 }, output_config: { effort: "high" } },
    { thinking: { type: "disabled" } },
  ],
  [
    "Chat Completions'",
    (fetch) => createOpenAiChatProvider({ apiKey, fetch }),
    "gpt-5.2",
    { reasoning_effort: "high" },
    { reasoning_effort: "none" },
  ],
  [
    "the Responses API's",
    (fetch) => createOpenAiResponsesProvider({ apiKey, fetch }),
    "gpt-5.2",
    { reasoning: { effort: "high", summary: "auto" } },
    { reasoning: { effort: "none" } },
  ],
  [
    "Gemini's",
    (fetch) => createGeminiProvider({ apiKey, fetch }),
    "gemini-2.5-flash",
    { generationConfig: { thinkingConfig: { thinkingBudget: 2000, includeThoughts: true } } },
    { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } },
  ],
  ["Ollama's", (fetch) => createOllamaProvider({ fetch }), "gpt-oss:20b", { think: "high" }, { think: "low" }],
  [
    "OpenRouter's",
    (fetch) => createOpenAiCompatibleProvider({ vendor: "openrouter", apiKey, fetch }),
    "some/model",
    { reasoning: { max_tokens: 2000 } },
    { reasoning: { enabled: false } },
  ],
])("an agent's effort and thinking stand in %s requests [AG-06, AG-07]", async (_wire, make, model, asked, silenced) => {
  expect(await sentBy(make, model, high)).toMatchObject(asked);
  expect(await sentBy(make, model, off)).toMatchObject(silenced);
});

it("an agent's effort and thinking stand in what an AI SDK model is asked [AG-06, AG-07]", async () => {
  const asked: unknown[] = [];
  const model = {
    specificationVersion: "v4",
    provider: "acme",
    modelId: "m",
    supportedUrls: {},
    doStream: async (options: { readonly reasoning?: unknown }) => {
      asked.push(options.reasoning);
      throw new Error("no");
    },
  };
  for (const options of [{ effort: "low" }, off, {}] as const)
    await runnerOf(createAgent({ name: "a", model: createAiSdkProvider(model as never), limits: { maxRetries: 0 }, ...options })).run("go")
      .outcome;
  expect(asked).toEqual(["low", "none", undefined]);
});
