import { ApiClient, type ProviderOptions } from "./provider-options.ts";

const DEFAULT_BASE_URL = "https://api.openai.com/v1";

/** The client of OpenAI's APIs, and of servers that have the same; one of one's own may want no key. */
export function createOpenAiClient(options: ProviderOptions, provider: string): ApiClient {
  return new ApiClient({
    options,
    provider,
    defaultBaseUrl: DEFAULT_BASE_URL,
    environmentVariable: "OPENAI_API_KEY",
    keyOptional: options.baseUrl !== undefined,
    // Azure takes its own keys in a header of its own, and tokens as a bearer.
    authorize: (key, url) =>
      /^https?:\/\/[^/]*\.azure\.com(?::\d+)?\//.test(url) && !key.startsWith("ey")
        ? { "api-key": key }
        : { authorization: `Bearer ${key}` },
  });
}
