import type { Provider } from "@keelson/protocol";
import { createModelRegistry, type ModelRegistry } from "keelson/providers";
import { openCompatibleVendors } from "./compatible-vendors.ts";
import { type ConfiguredKeys, readConfiguredKeys } from "./configured-keys.ts";
import { homePath } from "./home.ts";
import { offerEditTools } from "./offer-edit-tools.ts";
import { createKnownSecrets, type KnownSecrets } from "./known-secrets.ts";

export interface ModelAccess {
  readonly models: ModelRegistry;
  /** The model that is taken when none is named; `undefined` when there is none. A server without keys is asked what it has. */
  defaultModel(): Promise<string | undefined>;
  /** The keys, and the other secrets of the environment that they come from. */
  readonly secrets: KnownSecrets;
}

interface Vendor {
  readonly name: string;
  /** The variable that holds the key; `undefined` where none is needed. */
  readonly key: string | undefined;
  /** The variable that says where the server is. */
  readonly baseUrl: string;
  /** `undefined`: the first of the server's models that can call tools. */
  readonly defaultModel: string | undefined;
  create(options: AccessOptions): Promise<Provider>;
  /** A second wire to the same models, under another name. */
  readonly second?: { readonly name: string; create(options: AccessOptions): Promise<Provider> };
}

interface AccessOptions {
  readonly apiKey?: string | (() => Promise<string>);
  readonly baseUrl?: string;
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
    second: {
      name: "openai-responses",
      create: async (options) =>
        (await import("keelson/providers/openai-responses")).createOpenAiResponsesProvider({ ...options, name: "openai-responses" }),
    },
  },
  {
    name: "gemini",
    key: "GEMINI_API_KEY",
    baseUrl: "GEMINI_BASE_URL",
    defaultModel: "gemini/gemini-3.5-flash",
    create: async (options) => (await import("keelson/providers/gemini")).createGeminiProvider(options),
  },
  {
    name: "ollama",
    key: undefined,
    baseUrl: "OLLAMA_HOST",
    defaultModel: undefined,
    create: async (options) => (await import("keelson/providers/ollama")).createOllamaProvider(options),
  },
];

/** The variable that gives access to a vendor's models. */
export function accessVariable({ key, baseUrl }: Vendor): string {
  return key ?? baseUrl;
}

/** A local server responds at once, or is not there. */
const LIST_MS = 5_000;

/**
 * The models that the environment and the file of keys give access to; a variable goes before an entry of the file.
 * @param given - the keys, if they were read before
 */
export async function openModels(
  environment: { readonly [name: string]: string | undefined },
  given?: ConfiguredKeys,
): Promise<ModelAccess> {
  const secrets = createKnownSecrets(environment);
  const keys = given ?? (await readConfiguredKeys({ path: homePath(environment) }, secrets));
  const providers: { [name: string]: Provider } = {};
  const onlyNamed: string[] = [];
  const plainIds: string[] = [];
  const defaults: (() => Promise<string | undefined>)[] = [];
  for (const vendor of VENDORS) {
    const apiKey = vendor.key === undefined ? "" : keyFrom(vendor.key, environment, keys);
    const baseUrl = environment[vendor.baseUrl] ?? "";
    // A server of one's own often wants no key.
    if (apiKey === "" && baseUrl === "") continue;
    const options = {
      ...(vendor.key !== undefined && { apiKey: apiKey === "" ? "none" : apiKey }),
      ...(baseUrl !== "" && { baseUrl }),
    };
    const provider = offerEditTools(await vendor.create(options));
    providers[vendor.name] = provider;
    // A server of one's own may have ids with slashes.
    if (vendor.key !== undefined && baseUrl === "") plainIds.push(vendor.name);
    if (vendor.second !== undefined) {
      providers[vendor.second.name] = offerEditTools(await vendor.second.create(options));
      onlyNamed.push(vendor.second.name);
    }
    const { defaultModel } = vendor;
    if (apiKey !== "" && defaultModel !== undefined) defaults.push(async () => defaultModel);
    if (vendor.key === undefined) defaults.push(() => firstModel(vendor.name, provider));
  }
  for (const [name, provider] of await openCompatibleVendors(environment, keys)) {
    providers[name] = offerEditTools(provider);
    onlyNamed.push(name);
  }
  const models = createModelRegistry({ providers, free: ["ollama"], onlyNamed, plainIds });
  return { models, defaultModel: async () => defaults[0]?.(), secrets };
}

/** The value of a variable, else what reads the key of that name; "" if there is none. */
export function keyFrom(
  name: string,
  environment: { readonly [name: string]: string | undefined },
  keys: ConfiguredKeys,
): string | (() => Promise<string>) {
  const key = keys.get(name);
  return environment[name] || (key === undefined ? "" : () => key.read());
}

async function firstModel(vendor: string, provider: Provider): Promise<string | undefined> {
  const models = (await provider.listModels?.({ signal: AbortSignal.timeout(LIST_MS) })) ?? [];
  const first = models.find(({ capabilities }) => capabilities.toolCalling);
  return first === undefined ? undefined : `${vendor}/${first.id}`;
}
