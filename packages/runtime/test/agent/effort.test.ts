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

/** What goes over a wire when an agent asks; the response is a refusal. */
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

const on = { thinking: { type: "adaptive" } } as const;

it.each<[string, (fetch: typeof globalThis.fetch) => Provider, string, readonly string[], (sent: Sent) => unknown]>([
  [
    "Chat Completions",
    (fetch) => createOpenAiChatProvider({ apiKey, fetch }),
    "gpt-5.2",
    ["low", "medium", "high", "xhigh"],
    (sent) => sent["reasoning_effort"],
  ],
  [
    "OpenAI's compatible API",
    (fetch) => createOpenAiCompatibleProvider({ vendor: "openai", apiKey, fetch }),
    "o3",
    ["low", "medium", "high", "high"],
    (sent) => sent["reasoning_effort"],
  ],
  [
    "the Responses API",
    (fetch) => createOpenAiResponsesProvider({ apiKey, fetch }),
    "gpt-5.2",
    ["low", "medium", "high", "xhigh"],
    (sent) => (sent["reasoning"] as Sent | undefined)?.["effort"],
  ],
  [
    "Gemini",
    (fetch) => createGeminiProvider({ apiKey, fetch }),
    "gemini-3.1-pro",
    ["low", "medium", "high", "high"],
    (sent) => ((sent["generationConfig"] as Sent | undefined)?.["thinkingConfig"] as Sent | undefined)?.["thinkingLevel"],
  ],
  ["Ollama", (fetch) => createOllamaProvider({ fetch }), "gpt-oss:20b", ["low", "medium", "high", "high"], (sent) => sent["think"]],
])(
  "each level of effort is told to %s, high where thinking is switched on without one, and none where nobody asked [MC-03]",
  async (_wire, make, model, levels, levelIn) => {
    const said: unknown[] = [];
    for (const effort of ["low", "medium", "high", "max"] as const) said.push(levelIn(await sentBy(make, model, { effort })));
    expect(said).toEqual(levels);
    expect(levelIn(await sentBy(make, model, on))).toBe("high");
    expect(levelIn(await sentBy(make, model, { ...on, effort: "low" }))).toBe("low");
    expect(levelIn(await sentBy(make, model, {}))).toBeUndefined();
  },
);

it("a level is left out for Anthropic's API, which takes high by itself, and for models that know none [MC-03]", async () => {
  const anthropic = (fetch: typeof globalThis.fetch): Provider => createAnthropicProvider({ apiKey, fetch });
  expect(await sentBy(anthropic, "claude-opus-4-6", on)).not.toHaveProperty("output_config");
  const chat = (fetch: typeof globalThis.fetch): Provider => createOpenAiChatProvider({ apiKey, fetch });
  for (const model of ["gpt-4o", "gpt-5-chat-latest", "o1-mini", "somebody-elses"])
    expect(await sentBy(chat, model, on), model).not.toHaveProperty("reasoning_effort");
  const ollama = (fetch: typeof globalThis.fetch): Provider => createOllamaProvider({ fetch });
  expect((await sentBy(ollama, "qwen3", on))["think"]).toBe(true);
});

it("an agent's effort and thinking stand in what an AI SDK model is asked [AG-06, AG-07, MC-03]", async () => {
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
  for (const options of [{ effort: "low" }, on, off, {}] as const)
    await runnerOf(createAgent({ name: "a", model: createAiSdkProvider(model as never), limits: { maxRetries: 0 }, ...options })).run("go")
      .outcome;
  expect(asked).toEqual(["low", "high", "none", undefined]);
});
