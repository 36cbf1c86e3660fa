import type { InferEvent, InferOptions, InferRequest, Provider } from "@keelson/protocol";
import { fitToWire } from "./fitting/fit-to-wire.ts";
import { fitTools } from "./fitting/fit-tools.ts";
import { OPENAI_RULES } from "./fitting/rules/openai.ts";
import { InferStream } from "./infer-stream.ts";
import { readModelPage } from "./model-list.ts";
import { openAiModelInfo } from "./openai-model-info.ts";
import { ResponsesDecoder } from "./openai-responses/responses-decoder.ts";
import { ResponsesRequestEncoder } from "./openai-responses/responses-request.ts";
import { createOpenAiClient } from "./openai-client.ts";
import { RESPONSES_OUTPUT, outputBoundOf } from "./output-bound.ts";
import { requireMessages } from "./require-messages.ts";
import { PROVIDER_OPTIONS, type ProviderOptions } from "./provider-options.ts";
import { checkOptionNames } from "../json/option-names.ts";
import { checkMethodOptions } from "../json/check-method-options.ts";
import { PROVIDER_METHODS } from "../json/interface-methods.ts";

export type { Provider } from "@keelson/protocol";

export type { ProviderOptions } from "./provider-options.ts";

export const OPENAI_RESPONSES_WIRE = "openai-responses";
export const DEFAULT_OPENAI_RESPONSES_MODEL = "gpt-5-mini";

/**
 * Models over OpenAI's Responses API, or any server that speaks it: `/responses` is put after the path of `baseUrl`, before its
 * query, so that Azure's addresses work as they are. The key is `apiKey` or `OPENAI_API_KEY`; a server of one's own may have none.
 * The conversation goes with each request; `extra: { store: true }` leaves it with the vendor as well.
 */
export function createOpenAiResponsesProvider(options: ProviderOptions = {}): Provider {
  checkOptionNames("createOpenAiResponsesProvider", options, PROVIDER_OPTIONS);
  const name = options.name ?? "openai";
  const client = createOpenAiClient(options, name);
  const defaultModel = options.defaultModel ?? DEFAULT_OPENAI_RESPONSES_MODEL;
  const encoder = new ResponsesRequestEncoder({ wire: OPENAI_RESPONSES_WIRE, provider: name, defaultModel });

  const provider: Provider = {
    name,
    wire: OPENAI_RESPONSES_WIRE,
    stream(given: InferRequest, inferOptions: InferOptions = {}): AsyncIterable<InferEvent> {
      const { request, restore } = fitToWire(given, OPENAI_RULES, OPENAI_RESPONSES_WIRE);
      const model = request.model || defaultModel;
      const events = new InferStream({
        keys: client.keys,
        context: { wire: OPENAI_RESPONSES_WIRE, provider: name, model },
        send: () => {
          requireMessages(request, ["input", "prompt", "previous_response_id"], { provider: name, model });
          return client.send({
            method: "POST",
            path: "/responses",
            body: encoder.encode(request, inferOptions),
            signal: inferOptions.signal,
            resendLost: inferOptions.resendLost,
            origin: { provider: name, model },
          });
        },
        decoder: (queue, context) => new ResponsesDecoder(queue, context),
        rateLimitHeaders: "x-ratelimit",
      });
      return restore(events);
    },
    unfitTools: (tools) => fitTools(tools, OPENAI_RULES).unfit,
    outputBound: (request) => outputBoundOf(request, request.model || defaultModel, RESPONSES_OUTPUT),
    listModels: ({ signal } = {}) =>
      client.keys.guard(async () => {
        const page = await readModelPage(await client.send({ method: "GET", path: "/models", signal, origin: { provider: name } }), name);
        return page.models.map(openAiModelInfo);
      }),
  };
  return checkMethodOptions("provider", provider, PROVIDER_METHODS);
}
