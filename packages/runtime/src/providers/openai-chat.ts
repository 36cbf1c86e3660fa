import type { InferEvent, InferOptions, InferRequest, Provider } from "@keelson/protocol";
import { fitToWire } from "./fitting/fit-to-wire.ts";
import { fitTools } from "./fitting/fit-tools.ts";
import { OPENAI_RULES } from "./fitting/rules/openai.ts";
import { InferStream } from "./infer-stream.ts";
import { readModelPage } from "./model-list.ts";
import { ChatDecoder } from "./openai-chat/chat-decoder.ts";
import { ChatRequestEncoder } from "./openai-chat/chat-request.ts";
import { openAiModelInfo } from "./openai-model-info.ts";
import { createOpenAiClient } from "./openai-client.ts";
import { CHAT_OUTPUT, outputBoundOf } from "./output-bound.ts";
import { requireMessages } from "./require-messages.ts";
import { PROVIDER_OPTIONS, type ProviderOptions } from "./provider-options.ts";
import { type DecoderContext, fieldsOf, stringOf } from "./wire-decoder.ts";
import { checkOptionNames } from "../json/option-names.ts";
import { checkMethodOptions } from "../json/check-method-options.ts";
import { PROVIDER_METHODS } from "../json/interface-methods.ts";

export type { Provider } from "@keelson/protocol";

export type { ProviderOptions } from "./provider-options.ts";

export const OPENAI_CHAT_WIRE = "openai-chat";
export const DEFAULT_OPENAI_MODEL = "gpt-5-mini";

export interface OpenAiChatOptions extends ProviderOptions {
  /** What the server calls the limit of the response. Default `max_completion_tokens`; servers that do not know it want `max_tokens`. */
  readonly maxTokensField?: "max_completion_tokens" | "max_tokens" | undefined;
}

/**
 * Models over OpenAI's Chat Completions, or any server that speaks it: `/chat/completions` is put after the path of `baseUrl`,
 * before its query, so that Azure's addresses work as they are. The key is `apiKey` or `OPENAI_API_KEY`; a server of one's own
 * may have none.
 */
export function createOpenAiChatProvider(options: OpenAiChatOptions = {}): Provider {
  checkOptionNames("createOpenAiChatProvider", options, { ...PROVIDER_OPTIONS, maxTokensField: true });
  const name = options.name ?? "openai";
  const client = createOpenAiClient(options, name);
  const defaultModel = options.defaultModel ?? DEFAULT_OPENAI_MODEL;
  const encoder = new ChatRequestEncoder({
    wire: OPENAI_CHAT_WIRE,
    provider: name,
    defaultModel,
    maxTokensField: options.maxTokensField ?? "max_completion_tokens",
    rules: OPENAI_RULES,
  });

  const provider: Provider = {
    name,
    wire: OPENAI_CHAT_WIRE,
    stream(given: InferRequest, inferOptions: InferOptions = {}): AsyncIterable<InferEvent> {
      const { request, restore } = fitToWire(given, OPENAI_RULES, OPENAI_CHAT_WIRE);
      const model = request.model || defaultModel;
      const audioFormat = request.extra === undefined ? "" : stringOf(fieldsOf(request.extra["audio"])?.["format"]);
      const outputBound = outputBoundOf(request, model, CHAT_OUTPUT);
      const context: DecoderContext = { wire: OPENAI_CHAT_WIRE, provider: name, model, outputBound };
      const events = new InferStream({
        keys: client.keys,
        context,
        send: () => {
          requireMessages(request, ["messages"], { provider: name, model });
          return client.send({
            method: "POST",
            path: "/chat/completions",
            body: encoder.encode(request, inferOptions),
            signal: inferOptions.signal,
            resendLost: inferOptions.resendLost,
            origin: context,
          });
        },
        decoder: (queue, known) => new ChatDecoder(queue, known, { tools: request.tools, ...(audioFormat !== "" && { audioFormat }) }),
        rateLimitHeaders: "x-ratelimit",
      });
      return restore(events);
    },
    unfitTools: (tools) => fitTools(tools, OPENAI_RULES).unfit,
    outputBound: (request) => outputBoundOf(request, request.model || defaultModel, CHAT_OUTPUT),
    listModels: ({ signal } = {}) =>
      client.keys.guard(async () => {
        const page = await readModelPage(await client.send({ method: "GET", path: "/models", signal, origin: { provider: name } }), name);
        return page.models.map(openAiModelInfo);
      }),
  };
  return checkMethodOptions("provider", provider, PROVIDER_METHODS);
}
