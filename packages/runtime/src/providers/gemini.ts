import type { InferEvent, InferOptions, InferRequest, ModelInfo, Provider } from "@keelson/protocol";
import { bareModelName, createGeminiClient } from "./gemini/gemini-client.ts";
import { GeminiDecoder } from "./gemini/gemini-decoder.ts";
import { GeminiRequestEncoder } from "./gemini/gemini-request.ts";
import { fitToWire } from "./fitting/fit-to-wire.ts";
import { fitTools } from "./fitting/fit-tools.ts";
import { GEMINI_RULES } from "./fitting/rules/gemini.ts";
import { InferStream } from "./infer-stream.ts";
import { positive, readListing } from "./model-list.ts";
import { GEMINI_OUTPUT, outputBoundOf } from "./output-bound.ts";
import { requireMessages } from "./require-messages.ts";
import { PROVIDER_OPTIONS, type ProviderOptions } from "./provider-options.ts";
import { type Fields, stringOf } from "./wire-decoder.ts";
import { checkOptionNames } from "../json/option-names.ts";
import { checkMethodOptions } from "../json/check-method-options.ts";
import { PROVIDER_METHODS } from "../json/interface-methods.ts";

export type { Provider } from "@keelson/protocol";

export type { ProviderOptions } from "./provider-options.ts";

export const GEMINI_WIRE = "gemini";
export const DEFAULT_GEMINI_MODEL = "gemini-3.5-flash";

/**
 * Models over Google's Gemini API. The key is `apiKey` or `GEMINI_API_KEY`. For Vertex AI, `baseUrl` goes as far as
 * `…/publishers/google`, and an `authorization` header takes the place of the key.
 */
export function createGeminiProvider(options: ProviderOptions = {}): Provider {
  checkOptionNames("createGeminiProvider", options, PROVIDER_OPTIONS);
  const name = options.name ?? "gemini";
  const { client, version } = createGeminiClient(options, name);
  const defaultModel = bareModelName(options.defaultModel ?? DEFAULT_GEMINI_MODEL);
  const encoder = new GeminiRequestEncoder({ wire: GEMINI_WIRE, provider: name, defaultModel });

  const provider: Provider = {
    name,
    wire: GEMINI_WIRE,
    stream(given: InferRequest, inferOptions: InferOptions = {}): AsyncIterable<InferEvent> {
      const model = bareModelName(given.model || defaultModel);
      const { request, restore } = fitToWire(given.model === model ? given : { ...given, model }, GEMINI_RULES, GEMINI_WIRE);
      const events = new InferStream({
        keys: client.keys,
        context: { wire: GEMINI_WIRE, provider: name, model, outputBound: outputBoundOf(request, model, GEMINI_OUTPUT) },
        send: () => {
          requireMessages(request, ["contents"], { provider: name, model });
          return client.send({
            method: "POST",
            // Tuned models and those of endpoints come with the folder they are in.
            path: `${version}/${model.includes("/") ? model : `models/${encodeURIComponent(model)}`}:streamGenerateContent?alt=sse`,
            body: encoder.encode(request, inferOptions),
            signal: inferOptions.signal,
            resendLost: inferOptions.resendLost,
            origin: { provider: name, model },
          });
        },
        decoder: (queue, context) => new GeminiDecoder(queue, context),
      });
      return restore(events);
    },
    unfitTools: (tools) => fitTools(tools, GEMINI_RULES).unfit,
    outputBound: (request) => outputBoundOf(request, request.model || defaultModel, GEMINI_OUTPUT),
    listModels: ({ signal } = {}) =>
      client.keys.guard(async () => {
        const models: ModelInfo[] = [];
        for (let token = "", more = true; more;) {
          const path = `${version}/models?pageSize=1000${token === "" ? "" : `&pageToken=${encodeURIComponent(token)}`}`;
          const { items, body } = await readListing(
            await client.send({ method: "GET", path, signal, origin: { provider: name } }),
            name,
            "models",
          );
          models.push(...items.map(geminiModelInfo));
          const next = stringOf(body["nextPageToken"]);
          more = next !== "" && next !== token;
          token = next;
        }
        return models;
      }),
  };
  return checkMethodOptions("provider", provider, PROVIDER_METHODS);
}

function geminiModelInfo(model: Fields): ModelInfo {
  const id = bareModelName(stringOf(model["name"]));
  const methods = Array.isArray(model["supportedGenerationMethods"]) ? (model["supportedGenerationMethods"] as readonly unknown[]) : [];
  const generates = methods.includes("generateContent");
  const talks = generates && !/-(?:tts|image|live|audio)(?:-|$)|embedding|imagen|veo|aqa/.test(id);
  const gemini = talks && id.startsWith("gemini-");
  const thinks = gemini && model["thinking"] === true;
  return {
    id,
    displayName: stringOf(model["displayName"]) || id,
    description: stringOf(model["description"]),
    capabilities: { toolCalling: gemini, vision: talks, streaming: generates, structuredOutput: gemini, effortLevels: thinks },
    contextWindow: positive(model["inputTokenLimit"]),
    maxOutputTokens: positive(model["outputTokenLimit"]),
    supportedEffortLevels: thinks ? ["low", "medium", "high"] : [],
  };
}
