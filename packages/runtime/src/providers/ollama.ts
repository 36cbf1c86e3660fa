import type { InferEvent, InferOptions, InferRequest, ModelInfo, Provider } from "@keelson/protocol";
import type { CallMarkupName } from "./call-markup/call-markup.ts";
import { withCallMarkup } from "./call-markup/markup-decoder.ts";
import { fitToWire } from "./fitting/fit-to-wire.ts";
import { fitTools } from "./fitting/fit-tools.ts";
import { OLLAMA_RULES } from "./fitting/rules/ollama.ts";
import { InferStream } from "./infer-stream.ts";
import { readListing } from "./model-list.ts";
import { createOllamaClient } from "./ollama/ollama-client.ts";
import { OllamaDecoder } from "./ollama/ollama-decoder.ts";
import { OllamaRequestEncoder } from "./ollama/ollama-request.ts";
import { OLLAMA_OUTPUT, outputBoundOf } from "./output-bound.ts";
import { requireMessages } from "./require-messages.ts";
import { PROVIDER_OPTIONS, type ProviderOptions } from "./provider-options.ts";
import { type Fields, fieldsOf, stringOf } from "./wire-decoder.ts";
import { checkOptionNames } from "../json/option-names.ts";
import { checkMethodOptions } from "../json/check-method-options.ts";
import { PROVIDER_METHODS } from "../json/interface-methods.ts";

export type { Provider } from "@keelson/protocol";

export type { ProviderOptions } from "./provider-options.ts";

export const OLLAMA_WIRE = "ollama-chat";
/** Templates that users write for their models leave calls in the text. */
const CALL_MARKUP: readonly CallMarkupName[] = ["hermes", "qwen-xml", "kimi", "deepseek", "harmony", "python-tag", "mistral"];
export const DEFAULT_OLLAMA_MODEL = "qwen3";

export interface OllamaOptions extends ProviderOptions {
  /**
   * Tokens that the model is loaded for (`num_ctx`). Without it the server's own default holds, which is small: it drops the
   * beginning of longer prompts and says nothing.
   */
  readonly contextLength?: number | undefined;
  /** How long the model stays loaded: `"10m"`, seconds, or -1 for ever. Default: the server's five minutes. */
  readonly keepAlive?: string | number | undefined;
}

/**
 * Models that Ollama runs, over its own chat API. The server is `baseUrl`, `OLLAMA_HOST`, or `http://localhost:11434`. No key is
 * needed, nor sent unless one is given.
 */
export function createOllamaProvider(options: OllamaOptions = {}): Provider {
  checkOptionNames("createOllamaProvider", options, { ...PROVIDER_OPTIONS, contextLength: true, keepAlive: true });
  const name = options.name ?? "ollama";
  const client = createOllamaClient(options, name);
  const defaultModel = options.defaultModel ?? DEFAULT_OLLAMA_MODEL;
  const { contextLength, keepAlive } = options;
  const encoder = new OllamaRequestEncoder({ wire: OLLAMA_WIRE, provider: name, defaultModel, contextLength, keepAlive });

  const provider: Provider = {
    name,
    wire: OLLAMA_WIRE,
    stream(given: InferRequest, inferOptions: InferOptions = {}): AsyncIterable<InferEvent> {
      const { request, restore } = fitToWire(given, OLLAMA_RULES, OLLAMA_WIRE);
      const model = request.model || defaultModel;
      const events = new InferStream({
        keys: client.keys,
        context: { wire: OLLAMA_WIRE, provider: name, model },
        send: () => {
          requireMessages(request, ["messages"], { provider: name, model });
          return client.send({
            method: "POST",
            path: "/api/chat",
            body: encoder.encode(request, inferOptions),
            signal: inferOptions.signal,
            resendLost: inferOptions.resendLost,
            origin: { provider: name, model },
          });
        },
        decoder: (queue, context) => withCallMarkup(CALL_MARKUP, request, queue, (inner) => new OllamaDecoder(inner, context)),
      });
      return restore(events);
    },
    unfitTools: (tools) => fitTools(tools, OLLAMA_RULES).unfit,
    outputBound: (request) => outputBoundOf(request, request.model || defaultModel, OLLAMA_OUTPUT),
    listModels: ({ signal } = {}) =>
      client.keys.guard(async () => {
        const response = await client.send({ method: "GET", path: "/api/tags", signal, origin: { provider: name } });
        return (await readListing(response, name, "models")).items.map(ollamaModelInfo);
      }),
  };
  return checkMethodOptions("provider", provider, PROVIDER_METHODS);
}

/** The list tells families and sizes; what a model can do it tells only since some version, and not of all. */
function ollamaModelInfo(model: Fields): ModelInfo {
  const id = stringOf(model["model"]) || stringOf(model["name"]);
  const details = fieldsOf(model["details"]);
  const told = Array.isArray(model["capabilities"]) ? (model["capabilities"] as readonly unknown[]) : undefined;
  const can = (capability: string, otherwise: boolean): boolean => told?.includes(capability) ?? otherwise;
  const embeds = /embed|bge-|minilm/.test(id);
  const description = [stringOf(details?.["family"]), stringOf(details?.["parameter_size"]), stringOf(details?.["quantization_level"])];
  const levels = /gpt-oss/.test(id);
  return {
    id,
    displayName: id,
    description: description.filter((word) => word !== "").join(" "),
    capabilities: {
      toolCalling: can("tools", !embeds),
      vision: can("vision", /vision|llava|-vl|gemma3/.test(id)),
      streaming: can("completion", !embeds),
      structuredOutput: can("completion", !embeds),
      effortLevels: levels,
    },
    contextWindow: null,
    maxOutputTokens: null,
    supportedEffortLevels: levels ? ["low", "medium", "high"] : [],
  };
}
