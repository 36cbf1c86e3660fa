import { type InferEvent, type InferOptions, type InferRequest, ModelError, type ModelInfo, type Provider } from "@keelson/protocol";
import { readTextUpTo, type TransportAnswer } from "../transport/index.ts";
import { InferStream } from "./infer-stream.ts";
import { readListing } from "./model-list.ts";
import { OllamaDecoder } from "./ollama/ollama-decoder.ts";
import { ollamaAddress } from "./ollama/ollama-address.ts";
import { OllamaRequestEncoder } from "./ollama/ollama-request.ts";
import { ApiClient, type ProviderOptions } from "./provider-options.ts";
import { failureOfStatus, MAX_ERROR_BYTES } from "./vendor-failure.ts";
import { type Fields, fieldsOf, stringOf } from "./wire-decoder.ts";

export type { ProviderOptions } from "./provider-options.ts";

export const OLLAMA_WIRE = "ollama-chat";
export const DEFAULT_OLLAMA_MODEL = "qwen3";

export interface OllamaOptions extends ProviderOptions {
  /**
   * Tokens that the model is loaded for (`num_ctx`). Without it the server's own default holds, which is small: it drops the
   * beginning of longer prompts and says nothing.
   */
  readonly contextLength?: number;
  /** How long the model stays loaded: `"10m"`, seconds, or -1 for ever. Default: the server's five minutes. */
  readonly keepAlive?: string | number;
}

/**
 * Models that Ollama runs, over its own chat API. The server is `baseUrl`, `OLLAMA_HOST`, or `http://localhost:11434`. No key is
 * needed, nor sent unless one is given.
 */
export function createOllamaProvider(options: OllamaOptions = {}): Provider {
  const name = options.name ?? "ollama";
  const base = ollamaAddress(options.baseUrl ?? process.env["OLLAMA_HOST"] ?? "");
  const client = new ApiClient({
    // A key in the environment is none of a local server's business.
    options: { ...options, baseUrl: base, apiKey: options.apiKey ?? "" },
    provider: name,
    defaultBaseUrl: base,
    environmentVariable: "OLLAMA_API_KEY",
    keyOptional: true,
    authorize: (key) => ({ authorization: `Bearer ${key}` }),
  });
  const defaultModel = options.defaultModel ?? DEFAULT_OLLAMA_MODEL;
  const { contextLength, keepAlive } = options;
  const encoder = new OllamaRequestEncoder({ wire: OLLAMA_WIRE, provider: name, defaultModel, contextLength, keepAlive });

  return {
    name,
    wire: OLLAMA_WIRE,
    stream(request: InferRequest, inferOptions: InferOptions = {}): AsyncIterable<InferEvent> {
      const model = request.model || defaultModel;
      return new InferStream({
        context: { wire: OLLAMA_WIRE, provider: name, model },
        async send() {
          const origin = { provider: name, model };
          const body = encoder.encode(request, inferOptions);
          const answer = await reached(client.send({ method: "POST", path: "/api/chat", body, signal: inferOptions.signal, origin }), base);
          if (answer.status === 404) throw await unknownModel(answer, origin);
          return answer;
        },
        decoder: (queue, context) => new OllamaDecoder(queue, context),
      });
    },
    async listModels({ signal } = {}) {
      const answer = await reached(client.send({ method: "GET", path: "/api/tags", signal, origin: { provider: name } }), base);
      return (await readListing(answer, name, "models")).items.map(ollamaModelInfo);
    },
  };
}

/** Adds what to do to the commonest failure: no server there. */
async function reached(answer: Promise<TransportAnswer>, base: string): Promise<TransportAnswer> {
  try {
    return await answer;
  } catch (error) {
    if (!ModelError.is(error, "server-error") || error.failure.code !== "ECONNREFUSED") throw error;
    const message = `${error.failure.message}; is Ollama running at ${base}? Start it with \`ollama serve\`, or set OLLAMA_HOST`;
    throw new ModelError({ ...error.failure, message }, { cause: error });
  }
}

async function unknownModel(answer: TransportAnswer, context: { provider: string; model: string }): Promise<ModelError> {
  const error = failureOfStatus(404, (name) => answer.header(name), await readTextUpTo(answer.body, MAX_ERROR_BYTES), context);
  if (!/not found/.test(error.failure.message) || !error.failure.message.includes("model")) return error;
  return new ModelError({ ...error.failure, message: `${error.failure.message}; get it with \`ollama pull ${context.model}\`` });
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
