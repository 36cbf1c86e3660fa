import { ModelError, type ModelInfo, type Provider } from "@keelson/protocol";
import { modelFacts, type ModelFacts, type ModelFactTable } from "./model-facts.ts";
import { priceOf } from "./prices.ts";
import type { ModelPrice, PriceTable } from "./model-price.ts";
import { checkOptionNames } from "../json/option-names.ts";
import { checkPrices } from "./check-price.ts";
import { checkMethodOptions, type MethodOptions } from "../json/check-method-options.ts";

const REGISTRY_METHODS: MethodOptions<ModelRegistry> = { list: [0, { signal: true }] };

export interface ModelRegistryOptions {
  /** By the name that stands before the slash of a model reference. */
  readonly providers: { readonly [name: string]: Provider };
  /** Go before the built-in price table. */
  readonly prices?: PriceTable | undefined;
  /** What models can do, before what the built-in table says of them. */
  readonly facts?: ModelFactTable | undefined;
  /** Names of providers whose models cost nothing where `prices` does not say otherwise: servers of one's own. */
  readonly free?: readonly string[] | undefined;
  /** Names of providers that a bare id never means, only a reference with their name: a second wire to a vendor. */
  readonly onlyNamed?: readonly string[] | undefined;
  /**
   * Names of providers whose models' ids hold no slash, as those of a vendor at his own address: what stands before one is another
   * provider's name, and a reference to one that is not there is refused.
   */
  readonly plainIds?: readonly string[] | undefined;
  /** Short names for model references, for example `{ fast: "anthropic/claude-haiku-4-5" }`. */
  readonly aliases?: { readonly [alias: string]: string } | undefined;
  /** The reference that `resolve()` takes when none is given. */
  readonly default?: string | undefined;
}

export interface ResolvedModel {
  /** `provider/model`. */
  readonly reference: string;
  readonly provider: Provider;
  /** The key of the provider in the registry. */
  readonly providerName: string;
  /** The vendor's id, for `InferRequest.model`. */
  readonly model: string;
  readonly price: ModelPrice | null;
  /** What is known of it: requests that ask for more are refused before they are sent. */
  readonly facts: ModelFacts;
}

export interface ListedModel extends ModelInfo {
  readonly reference: string;
  readonly price: ModelPrice | null;
}

export interface ModelRegistry {
  readonly providers: { readonly [name: string]: Provider };
  /**
   * Finds a model by `provider/model`, by alias, or by a bare id when only one provider can be meant.
   * @throws ModelError of kind `invalid-request` that names what there is.
   */
  resolve(reference?: string): ResolvedModel;
  /** The models of all providers that can list theirs. */
  list(options?: { readonly signal?: AbortSignal }): Promise<readonly ListedModel[]>;
}

const NOTHING: ModelPrice = { input: "0", output: "0", asOf: "2026-09-23" };
/** Vendors that are nobody's makers: a name of theirs before a slash is always theirs. `docs/vendors.md` tells of them. */
const VENDOR_NAMES: ReadonlySet<string> = new Set([
  ...["azure", "bedrock", "bedrock-mantle", "cerebras", "cloudflare", "copilot", "crusoe", "databricks", "deepinfra", "doubleword"],
  ...["fireworks", "github-models", "gpustack", "groq", "heroku", "huggingface", "litellm", "llamacpp", "lmstudio", "mistralrs"],
  ...["openrouter", "portkey", "sglang", "snowflake", "together", "venice", "vercel", "vllm"],
]);
/** Whose names stand for themselves: no aggregator has models of these makers under them. */
const OWN_PREFIXES: ReadonlySet<string | undefined> = new Set(["anthropic", "openai", "openai-responses", "gemini", "ollama"]);

export function createModelRegistry(options: ModelRegistryOptions): ModelRegistry {
  checkOptionNames("createModelRegistry", options, {
    providers: true,
    prices: true,
    facts: true,
    free: true,
    onlyNamed: true,
    plainIds: true,
    aliases: true,
    default: true,
  });
  const { providers, prices, aliases = {}, free = [], onlyNamed = [], plainIds = [] } = options;
  if (prices !== undefined) checkPrices("prices", prices);
  const names = Object.keys(providers);
  const meantByBareIds = names.filter((name) => !onlyNamed.includes(name));
  const fail = (message: string): ModelError => new ModelError({ kind: "invalid-request", message: `${message}; ${describe()}` });
  const describe = (): string => {
    const there =
      names.length === 0
        ? "no provider is configured: set a key such as ANTHROPIC_API_KEY, or pass a registry of your own as the runner's `models`"
        : `there are the providers ${names.join(", ")}`;
    const short = Object.keys(aliases);
    return short.length === 0 ? there : `${there}, and the aliases ${short.join(", ")}`;
  };
  const priceFor = (providerName: string, model: string): ModelPrice | null => {
    const reference = `${providerName}/${model}`;
    if (prices !== undefined && Object.hasOwn(prices, reference)) return prices[reference] as ModelPrice | null;
    if (free.includes(providerName)) return NOTHING;
    // A provider may stand under any key: whose prices hold is told by its own name.
    return priceOf(reference, prices) ?? priceOf(`${own(providers, providerName)?.name ?? ""}/${model}`, prices);
  };
  const factsFor = (provider: Provider, providerName: string, model: string): ModelFacts => {
    const known = modelFacts(`${providerName}/${model}`, options.facts);
    // A provider may stand under any key.
    return known.contextWindow === undefined ? { ...modelFacts(`${provider.name}/${model}`), ...known } : known;
  };
  const resolved = (providerName: string, provider: Provider, model: string): ResolvedModel => {
    return {
      reference: `${providerName}/${model}`,
      provider,
      providerName,
      model,
      price: priceFor(providerName, model),
      facts: factsFor(provider, providerName, model),
    };
  };
  const own = <T>(table: { readonly [key: string]: T }, key: string): T | undefined => (Object.hasOwn(table, key) ? table[key] : undefined);

  function providerOfBareId(model: string): string {
    if (meantByBareIds.length === 1) return meantByBareIds[0] as string;
    const vendor = priceOf(model, prices)?.vendor ?? vendorOf(model);
    const candidates = meantByBareIds.filter((name) => name === vendor || own(providers, name)?.name === vendor);
    if (candidates.length === 1) return candidates[0] as string;
    throw fail(`which provider serves the model "${model}"? Write "provider/${model}"`);
  }

  function resolve(reference?: string): ResolvedModel {
    const asked = reference ?? options.default;
    if (asked === undefined || asked === "") throw fail(`no model was named and the registry has no default: write "provider/model"`);
    const seen = new Set<string>();
    let target = asked;
    for (let alias = own(aliases, target); alias !== undefined; alias = own(aliases, target)) {
      if (seen.has(target)) throw fail(`the alias "${asked}" leads in a circle`);
      seen.add(target);
      target = alias;
    }
    const slash = target.indexOf("/");
    const prefix = slash < 0 ? undefined : target.slice(0, slash);
    const named = prefix === undefined ? undefined : own(providers, prefix);
    if (prefix !== undefined && named !== undefined) {
      const model = target.slice(slash + 1);
      if (model === "") throw fail(`"${asked}" names a provider but no model`);
      return resolved(prefix, named, model);
    }
    // Ids of aggregators hold slashes themselves ("meta-llama/llama-3.3-70b"): with one provider they are bare ids.
    if (prefix !== undefined && meantByBareIds.length !== 1) throw fail(`there is no provider "${prefix}" (in "${asked}")`);
    if (prefix !== undefined && (OWN_PREFIXES.has(prefix) || VENDOR_NAMES.has(prefix) || plainIds.includes(meantByBareIds[0] ?? "")))
      throw fail(`there is no provider "${prefix}" (in "${asked}")`);
    if (names.length === 0) throw fail(`the model "${asked}" cannot be found`);
    const providerName = providerOfBareId(target);
    return resolved(providerName, providers[providerName] as Provider, target);
  }

  const registry: ModelRegistry = {
    providers,
    resolve,
    async list({ signal } = {}) {
      const lists = await Promise.all(
        names.map(async (name) => {
          const models = (await providers[name]?.listModels?.(signal === undefined ? {} : { signal })) ?? [];
          return models.map((model): ListedModel => ({
            ...model,
            reference: `${name}/${model.id}`,
            price: priceFor(name, model.id),
          }));
        }),
      );
      return lists.flat();
    },
  };
  return checkMethodOptions("models", registry, REGISTRY_METHODS);
}

function vendorOf(model: string): string | undefined {
  if (model.startsWith("claude-")) return "anthropic";
  if (model.startsWith("gemini-")) return "gemini";
  return /^(?:gpt-|chatgpt-|o\d)/.test(model) ? "openai" : undefined;
}
