import type { Provider } from "@keelson/protocol";
import { lazyProvider } from "./lazy-provider.ts";
import { createModelRegistry, type ModelRegistry } from "./model-registry.ts";

/** Providers by what the environment gives access to. Their code is loaded with the first request. */
export function modelsFromEnvironment(): ModelRegistry {
  const { ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, OPENAI_API_KEY, OPENAI_BASE_URL, GEMINI_API_KEY, GEMINI_BASE_URL, OLLAMA_HOST } =
    process.env;
  const providers: { [name: string]: Provider } = {};
  if (ANTHROPIC_API_KEY) {
    providers["anthropic"] = lazyProvider("anthropic", "anthropic-messages", async () =>
      (await import("./anthropic.ts")).createAnthropicProvider({
        apiKey: ANTHROPIC_API_KEY,
        ...(ANTHROPIC_BASE_URL && { baseUrl: ANTHROPIC_BASE_URL }),
      }),
    );
  }
  if (OPENAI_API_KEY) {
    providers["openai"] = lazyProvider("openai", "openai-chat", async () =>
      (await import("./openai-chat.ts")).createOpenAiChatProvider({
        apiKey: OPENAI_API_KEY,
        ...(OPENAI_BASE_URL && { baseUrl: OPENAI_BASE_URL }),
      }),
    );
    providers["openai-responses"] = lazyProvider("openai-responses", "openai-responses", async () =>
      (await import("./openai-responses.ts")).createOpenAiResponsesProvider({
        name: "openai-responses",
        apiKey: OPENAI_API_KEY,
        ...(OPENAI_BASE_URL && { baseUrl: OPENAI_BASE_URL }),
      }),
    );
  }
  if (GEMINI_API_KEY) {
    providers["gemini"] = lazyProvider("gemini", "gemini", async () =>
      (await import("./gemini.ts")).createGeminiProvider({
        apiKey: GEMINI_API_KEY,
        ...(GEMINI_BASE_URL && { baseUrl: GEMINI_BASE_URL }),
      }),
    );
  }
  if (OLLAMA_HOST) {
    providers["ollama"] = lazyProvider("ollama", "ollama-chat", async () =>
      (await import("./ollama.ts")).createOllamaProvider({ baseUrl: OLLAMA_HOST }),
    );
  }
  // A server of one's own may have ids with slashes.
  const plainIds = Object.entries({ anthropic: ANTHROPIC_BASE_URL, openai: OPENAI_BASE_URL, gemini: GEMINI_BASE_URL }).flatMap(
    ([name, baseUrl]) => (baseUrl ? [] : [name]),
  );
  return createModelRegistry({ providers, free: ["ollama"], onlyNamed: ["openai-responses"], plainIds });
}
