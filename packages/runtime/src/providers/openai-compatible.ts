import type { InferEvent, InferOptions, InferRequest, Provider } from "@keelson/protocol";
import { withCallMarkup } from "./call-markup/markup-decoder.ts";
import { fitToWire } from "./fitting/fit-to-wire.ts";
import { fitTools } from "./fitting/fit-tools.ts";
import { compatibleRules } from "./fitting/rules/compatible.ts";
import { InferStream } from "./infer-stream.ts";
import { readModelPage } from "./model-list.ts";
import { ChatDecoder } from "./openai-chat/chat-decoder.ts";
import { ChatRequestEncoder } from "./openai-chat/chat-request.ts";
import { compatibleClient } from "./openai-compatible/compatible-client.ts";
import { CHAT_WIRE, dialectOf, messageQuirks } from "./openai-compatible/compatible-dialect.ts";
import { compatibleModelInfo } from "./openai-compatible/compatible-model-info.ts";
import type { VendorQuirks } from "./openai-compatible/vendor-quirks.ts";
import { quirksOf, vendorName } from "./openai-compatible/vendors.ts";
import { COMPATIBLE_OUTPUT, outputBoundOf } from "./output-bound.ts";
import { requireMessages } from "./require-messages.ts";
import { PROVIDER_OPTIONS, type ProviderOptions } from "./provider-options.ts";
import { fieldsOf, stringOf } from "./wire-decoder.ts";
import { checkOptionNames } from "../json/option-names.ts";
import { checkMethodOptions } from "../json/check-method-options.ts";
import { PROVIDER_METHODS } from "../json/interface-methods.ts";

export type { Provider } from "@keelson/protocol";

export type { ProviderOptions } from "./provider-options.ts";
export type { OutputQuirks, ReasoningQuirks, VendorQuirks } from "./openai-compatible/vendor-quirks.ts";
export { vendorVariables } from "./openai-compatible/compatible-client.ts";
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
  const client = compatibleClient({ options, vendor: options.vendor, quirks, name });
  const defaultModel = options.defaultModel ?? "";
  const maxTokensField = quirks.maxTokensField ?? "max_tokens";
  const rules = compatibleRules(vendorName(options.vendor));
  const encoder = new ChatRequestEncoder({
    wire: CHAT_WIRE,
    provider: name,
    defaultModel,
    maxTokensField,
    rules,
    dialect: dialectOf(quirks),
    ...messageQuirks(quirks),
  });

  const boundOf = (request: InferRequest): number | null =>
    quirks.refuses?.includes(maxTokensField) === true ? null : outputBoundOf(request, request.model || defaultModel, COMPATIBLE_OUTPUT);

  const provider: Provider = {
    name,
    wire: CHAT_WIRE,
    stream(given: InferRequest, inferOptions: InferOptions = {}): AsyncIterable<InferEvent> {
      const { request, restore } = fitToWire(given, rules, CHAT_WIRE);
      const model = request.model || defaultModel;
      const audioFormat = stringOf(fieldsOf(request.extra?.["audio"])?.["format"]);
      const events = new InferStream({
        keys: client().keys,
        context: { wire: CHAT_WIRE, provider: name, model, outputBound: boundOf(request) },
        send: () => {
          requireMessages(request, ["messages"], { provider: name, model });
          return client().send({
            method: "POST",
            path: "/chat/completions",
            body: encoder.encode(request, inferOptions),
            signal: inferOptions.signal,
            resendLost: inferOptions.resendLost,
            origin: { provider: name, model },
          });
        },
        decoder: (queue, context) =>
          withCallMarkup(
            quirks.callMarkup,
            request,
            queue,
            (inner) =>
              new ChatDecoder(inner, context, { keepsReasoning: true, tools: request.tools, ...(audioFormat !== "" && { audioFormat }) }),
          ),
        rateLimitHeaders: "x-ratelimit",
      });
      return restore(events);
    },
    unfitTools: (tools) => fitTools(tools, rules).unfit,
    outputBound: boundOf,
    listModels: ({ signal } = {}) =>
      client().keys.guard(async () => {
        const page = await readModelPage(await client().send({ method: "GET", path: "/models", signal, origin: { provider: name } }), name);
        return page.models.map(compatibleModelInfo);
      }),
  };
  return checkMethodOptions("provider", provider, PROVIDER_METHODS);
}
