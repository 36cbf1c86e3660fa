import type { Embedder } from "@keelson/protocol";
import { createOllamaClient } from "../ollama/ollama-client.ts";
import { countOf, stringOf } from "../wire-decoder.ts";
import { embedInBatches } from "./embed-batches.ts";
import { batchLimits, EMBEDDER_OPTIONS, type EmbedderOptions } from "./embedder-options.ts";
import { readEmbeddings, vectorOf } from "./read-embeddings.ts";
import { checkOptionNames } from "../../json/option-names.ts";
import { checkMethodOptions } from "../../json/check-method-options.ts";
import { EMBEDDER_METHODS } from "../../json/interface-methods.ts";

export const DEFAULT_OLLAMA_EMBEDDING_MODEL = "embeddinggemma";
const LIMITS = { maxTexts: 256, maxTokens: 500_000 };

export interface OllamaEmbedderOptions extends EmbedderOptions {
  /** Cut texts that are longer than the model's window. Default `false`: they are an error, so that nothing is left out silently. */
  readonly truncate?: boolean | undefined;
}

/** Vectors from models that Ollama runs. The server is `baseUrl`, `OLLAMA_HOST`, or `http://localhost:11434`. */
export function createOllamaEmbedder(options: OllamaEmbedderOptions = {}): Embedder {
  checkOptionNames("createOllamaEmbedder", options, { ...EMBEDDER_OPTIONS, truncate: true });
  const name = options.name ?? "ollama";
  const model = options.model ?? DEFAULT_OLLAMA_EMBEDDING_MODEL;
  const client = createOllamaClient(options, name);
  // One model, one graphics card: more requests at a time only wait.
  const limits = batchLimits({ ...options, concurrency: options.concurrency ?? 1 }, LIMITS);
  const context = { provider: name, model };
  const embedder: Embedder = {
    name,
    model,
    embed: (texts, embedOptions = {}) =>
      client.keys.guard(() =>
        embedInBatches(texts, embedOptions, limits, context, async (input, signal) => {
          const { dimensions } = embedOptions;
          const asked = { model, input, truncate: options.truncate ?? false, ...(dimensions !== undefined && { dimensions }) };
          const body = [Buffer.from(JSON.stringify(asked))];
          const response = await readEmbeddings(
            await client.send({ method: "POST", path: "/api/embed", body, signal, origin: context }),
            context,
          );
          const embeddings = response["embeddings"];
          return {
            vectors: Array.isArray(embeddings) ? embeddings.map(vectorOf) : [],
            inputTokens: countOf(response["prompt_eval_count"]),
            model: stringOf(response["model"]) || undefined,
          };
        }),
      ),
  };
  return checkMethodOptions("embedder", embedder, EMBEDDER_METHODS);
}
