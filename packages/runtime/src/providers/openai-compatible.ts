import { type InferEvent, type InferOptions, type InferRequest, ModelError, type Provider } from "@keelson/protocol";
import { InferStream } from "./infer-stream.ts";
import { readModelPage } from "./model-list.ts";
import { ChatDecoder } from "./openai-chat/chat-decoder.ts";
import { ChatRequestEncoder } from "./openai-chat/chat-request.ts";
import { CHAT_WIRE, dialectOf, messageQuirks } from "./openai-compatible/compatible-dialect.ts";
import { compatibleModelInfo } from "./openai-compatible/compatible-model-info.ts";
import type { VendorQuirks } from "./openai-compatible/vendor-quirks.ts";
import { quirksOf } from "./openai-compatible/vendors.ts";
import { COMPATIBLE_OUTPUT, outputBoundOf } from "./output-bound.ts";
import { ApiClient, PROVIDER_OPTIONS, type ProviderOptions } from "./provider-options.ts";
import { fieldsOf, stringOf } from "./wire-decoder.ts";
import { checkOptionNames } from "../json/option-names.ts";

export type { Provider } from "@keelson/protocol";

export type { ProviderOptions } from "./provider-options.ts";
export type { OutputQuirks, ReasoningQuirks, VendorQuirks } from "./openai-compatible/vendor-quirks.ts";
export { KNOWN_VENDORS } from "./openai-compatible/vendors.ts";

export interface OpenAiCompatibleOptions extends ProviderOptions {
  /** Who serves it, as in `groq`, `mistral`, `ollama`. One that is not known is taken for an ordinary server, and needs a `baseUrl`. */
  readonly vendor: string;
  /** Go before what is known of the vendor. */
  readonly quirks?: VendorQuirks | undefined;
}

/**
 * Models of the many servers that speak OpenAI's Chat Completions more or less. Address, key and manners come from a table by
 * `vendor`; the key is `apiKey` or the vendor's environment variable, and servers of one's own may have none.
 */
export function createOpenAiCompatibleProvider(options: OpenAiCompatibleOptions): Provider {
  checkOptionNames("createOpenAiCompatibleProvider", options, { ...PROVIDER_OPTIONS, vendor: true, quirks: true });
  // Unlike elsewhere, a quirk that is `undefined` was not left out: it takes back one that is known of the vendor.
  const quirks: VendorQuirks = { ...quirksOf(options.vendor), ...options.quirks };
  const name = options.name ?? options.vendor;
  const client = lazily(() => clientOf(options, quirks, name));
  const defaultModel = options.defaultModel ?? "";
  const maxTokensField = quirks.maxTokensField ?? "max_tokens";
  const encoder = new ChatRequestEncoder({
    wire: CHAT_WIRE,
    provider: name,
    defaultModel,
    maxTokensField,
    dialect: dialectOf(quirks),
    ...messageQuirks(quirks),
  });

  return {
    name,
    wire: CHAT_WIRE,
    stream(request: InferRequest, inferOptions: InferOptions = {}): AsyncIterable<InferEvent> {
      const model = request.model || defaultModel;
      const audioFormat = stringOf(fieldsOf(request.extra?.["audio"])?.["format"]);
      return new InferStream({
        keys: client().keys,
        context: { wire: CHAT_WIRE, provider: name, model },
        send: () =>
          client().send({
            method: "POST",
            path: "/chat/completions",
            body: encoder.encode(request, inferOptions),
            signal: inferOptions.signal,
            resendLost: inferOptions.resendLost,
            origin: { provider: name, model },
          }),
        decoder: (queue, context) => new ChatDecoder(queue, context, { keepsReasoning: true, ...(audioFormat !== "" && { audioFormat }) }),
        rateLimitHeaders: "x-ratelimit",
      });
    },
    outputBound: (request) =>
      quirks.refuses?.includes(maxTokensField) === true ? null : outputBoundOf(request, request.model || defaultModel, COMPATIBLE_OUTPUT),
    listModels: ({ signal } = {}) =>
      client().keys.guard(async () => {
        const page = await readModelPage(await client().send({ method: "GET", path: "/models", signal, origin: { provider: name } }), name);
        return page.models.map(compatibleModelInfo);
      }),
  };
}

/** Only a request needs an address: a provider can be made before its environment is complete. */
function clientOf(options: OpenAiCompatibleOptions, quirks: VendorQuirks, name: string): ApiClient {
  const { keyHeader } = quirks;
  return new ApiClient({
    options,
    provider: name,
    defaultBaseUrl: options.baseUrl ?? addressOf(quirks, options.vendor, name),
    environmentVariable: quirks.keyVariable ?? vendorVariable(options.vendor, "API_KEY"),
    keyOptional: quirks.local === true || options.baseUrl !== undefined,
    authorize: (key): { readonly [header: string]: string } =>
      keyHeader === undefined ? { authorization: `Bearer ${key}` } : { [keyHeader]: key },
    ...(quirks.headers !== undefined && { headers: quirks.headers }),
  });
}

/** The environment variables that give access to a vendor: his key, and where his server is when that is not the usual place. */
export function vendorVariables(vendor: string): { readonly key: string; readonly baseUrl: string } {
  return { key: quirksOf(vendor).keyVariable ?? vendorVariable(vendor, "API_KEY"), baseUrl: vendorVariable(vendor, "BASE_URL") };
}

function vendorVariable(vendor: string, what: string): string {
  return `${vendor.toUpperCase().replace(/[^A-Z0-9]+/g, "_")}_${what}`;
}

function addressOf({ baseUrl }: VendorQuirks, vendor: string, provider: string): string {
  if (baseUrl === undefined)
    throw new ModelError({ kind: "invalid-request", message: `no address is known for the vendor "${vendor}": pass baseUrl`, provider });
  return baseUrl.replace(/\{(\w+)\}/g, (_, variable: string) => {
    const value = process.env[variable];
    if (value === undefined || value === "")
      throw new ModelError({
        kind: "invalid-request",
        message: `the address of ${vendor} needs ${variable}: set it or pass baseUrl`,
        provider,
      });
    return value.replace(/\/+$/, "");
  });
}

function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
