import type { InferEvent, InferOptions, InferRequest, ModelInfo, Provider } from "@keelson/protocol";
import { AnthropicDecoder } from "./anthropic/anthropic-decoder.ts";
import { AnthropicRequestEncoder } from "./anthropic/anthropic-request.ts";
import { fitToWire } from "./fitting/fit-to-wire.ts";
import { fitTools } from "./fitting/fit-tools.ts";
import { ANTHROPIC_RULES } from "./fitting/rules/anthropic.ts";
import { InferStream } from "./infer-stream.ts";
import { modelInfo, readModelPage } from "./model-list.ts";
import { ANTHROPIC_OUTPUT, outputBoundOf } from "./output-bound.ts";
import { ApiClient, PROVIDER_OPTIONS, type ProviderOptions } from "./provider-options.ts";
import { requireMessages } from "./require-messages.ts";
import { checkOptionNames } from "../json/option-names.ts";
import { checkMethodOptions } from "../json/check-method-options.ts";
import { PROVIDER_METHODS } from "../json/interface-methods.ts";

export type { Provider } from "@keelson/protocol";

export type { ProviderOptions } from "./provider-options.ts";

export const ANTHROPIC_WIRE = "anthropic-messages";
export const DEFAULT_ANTHROPIC_MODEL = "claude-haiku-4-5-20251001";
/** The API wants a limit with every request. */
export const DEFAULT_ANTHROPIC_MAX_TOKENS = 4096;
const DEFAULT_BASE_URL = "https://api.anthropic.com";

export interface AnthropicOptions extends ProviderOptions {
  /** Where a request gives no limit. Default 4096. */
  readonly defaultMaxTokens?: number | undefined;
  /** Sent as `anthropic-beta`. */
  readonly betas?: readonly string[] | undefined;
}

/** Models over Anthropic's Messages API. The key is `apiKey` or `ANTHROPIC_API_KEY`. */
export function createAnthropicProvider(options: AnthropicOptions = {}): Provider {
  checkOptionNames("createAnthropicProvider", options, { ...PROVIDER_OPTIONS, defaultMaxTokens: true, betas: true });
  const name = options.name ?? "anthropic";
  const client = new ApiClient({
    options,
    provider: name,
    defaultBaseUrl: DEFAULT_BASE_URL,
    environmentVariable: "ANTHROPIC_API_KEY",
    keyOptional:
      options.headers !== undefined && Object.keys(options.headers).some((header) => /^(?:authorization|x-api-key)$/i.test(header)),
    authorize: (key) => ({ "x-api-key": key }),
    headers: {
      "anthropic-version": "2023-06-01",
      ...(options.betas !== undefined && options.betas.length > 0 && { "anthropic-beta": options.betas.join(",") }),
    },
  });
  // People set the address with and without the version.
  const version = client.base.endsWith("/v1") ? "" : "/v1";
  const defaultModel = options.defaultModel ?? DEFAULT_ANTHROPIC_MODEL;
  const encoder = new AnthropicRequestEncoder({
    wire: ANTHROPIC_WIRE,
    provider: name,
    defaultModel,
    defaultMaxTokens: options.defaultMaxTokens ?? DEFAULT_ANTHROPIC_MAX_TOKENS,
  });

  const provider: Provider = {
    name,
    wire: ANTHROPIC_WIRE,
    stream(given: InferRequest, inferOptions: InferOptions = {}): AsyncIterable<InferEvent> {
      const { request, restore } = fitToWire(given, ANTHROPIC_RULES, ANTHROPIC_WIRE);
      const model = request.model || defaultModel;
      const events = new InferStream({
        keys: client.keys,
        context: { wire: ANTHROPIC_WIRE, provider: name, model },
        send: () => {
          requireMessages(request, ["messages"], { provider: name, model });
          return client.send({
            method: "POST",
            path: `${version}/messages`,
            body: encoder.encode(request, inferOptions),
            signal: inferOptions.signal,
            resendLost: inferOptions.resendLost,
            origin: { provider: name, model },
          });
        },
        decoder: (queue, context) => new AnthropicDecoder(queue, context),
        rateLimitHeaders: "anthropic-ratelimit",
      });
      return restore(events);
    },
    unfitTools: (tools) => fitTools(tools, ANTHROPIC_RULES).unfit,
    outputBound: (request) => outputBoundOf(request, request.model || defaultModel, ANTHROPIC_OUTPUT),
    listModels: ({ signal } = {}) =>
      client.keys.guard(async () => {
        const models: ModelInfo[] = [];
        for (let after: string | undefined, more = true; more;) {
          const path = `${version}/models?limit=1000${after === undefined ? "" : `&after_id=${encodeURIComponent(after)}`}`;
          const page = await readModelPage(await client.send({ method: "GET", path, signal, origin: { provider: name } }), name);
          models.push(
            ...page.models.map((model) =>
              modelInfo(model, { toolCalling: true, vision: true, streaming: true, structuredOutput: true, effortLevels: true }, [
                "low",
                "medium",
                "high",
              ]),
            ),
          );
          more = page.next !== undefined && page.next !== after;
          after = page.next;
        }
        return models;
      }),
  };
  return checkMethodOptions("provider", provider, PROVIDER_METHODS);
}
