import { ApiClient, type ProviderOptions } from "../provider-options.ts";

const DEFAULT_BASE_URL = "https://generativelanguage.googleapis.com";

/** The client of Google's API, and the part of its paths that the address may already have. */
export function createGeminiClient(options: ProviderOptions, provider: string): { readonly client: ApiClient; readonly version: string } {
  const client = new ApiClient({
    options,
    provider,
    defaultBaseUrl: DEFAULT_BASE_URL,
    environmentVariable: "GEMINI_API_KEY",
    keyOptional:
      options.headers !== undefined && Object.keys(options.headers).some((header) => /^(?:authorization|x-goog-api-key)$/i.test(header)),
    authorize: (key) => ({ "x-goog-api-key": key }),
  });
  // People set the address with and without the version.
  return { client, version: /\/v\d+(?:alpha|beta)?\d*(?:\/|$)/.test(client.base) ? "" : "/v1beta" };
}

/** The list names models `models/gemini-…`. */
export function bareModelName(model: string): string {
  return model.startsWith("models/") ? model.slice("models/".length) : model;
}
