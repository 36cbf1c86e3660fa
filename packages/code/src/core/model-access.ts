import type { Provider } from "@keelson/protocol";
import { createModelRegistry, type ModelRegistry } from "keelson/providers";

export interface ModelAccess {
  readonly models: ModelRegistry;
  /** The model that is taken when none is named; `undefined` when there is no key. */
  readonly defaultModel: string | undefined;
}

interface Vendor {
  readonly name: string;
  readonly key: string;
  readonly baseUrl: string;
  readonly defaultModel: string;
  create(options: { readonly apiKey: string; readonly baseUrl?: string }): Promise<Provider>;
}

/** In the order in which a default is looked for. A vendor's code is loaded only when it can be used. */
export const VENDORS: readonly Vendor[] = [
  {
    name: "anthropic",
    key: "ANTHROPIC_API_KEY",
    baseUrl: "ANTHROPIC_BASE_URL",
    defaultModel: "anthropic/claude-sonnet-5",
    create: async (options) => (await import("keelson/providers/anthropic")).createAnthropicProvider(options),
  },
  {
    name: "openai",
    key: "OPENAI_API_KEY",
    baseUrl: "OPENAI_BASE_URL",
    defaultModel: "openai/gpt-5.4",
    create: async (options) => (await import("keelson/providers/openai-chat")).createOpenAiChatProvider(options),
  },
];

/** The models that the environment gives access to. */
export async function openModels(environment: { readonly [name: string]: string | undefined }): Promise<ModelAccess> {
  const providers: { [name: string]: Provider } = {};
  let defaultModel: string | undefined;
  for (const vendor of VENDORS) {
    const apiKey = environment[vendor.key] ?? "";
    const baseUrl = environment[vendor.baseUrl] ?? "";
    // A server of one's own often wants no key.
    if (apiKey === "" && baseUrl === "") continue;
    providers[vendor.name] = await vendor.create({ apiKey: apiKey === "" ? "none" : apiKey, ...(baseUrl !== "" && { baseUrl }) });
    if (apiKey !== "") defaultModel ??= vendor.defaultModel;
  }
  return { models: createModelRegistry({ providers }), defaultModel };
}
