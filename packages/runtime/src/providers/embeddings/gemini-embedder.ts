import type { Embedder } from "@keelson/protocol";
import { bareModelName, createGeminiClient } from "../gemini/gemini-client.ts";
import { reportedCount } from "../token-count/reported-count.ts";
import { fieldsOf } from "../wire-decoder.ts";
import { embedInBatches } from "./embed-batches.ts";
import { batchLimits, EMBEDDER_OPTIONS, type EmbedderOptions } from "./embedder-options.ts";
import { listOf, readEmbeddings, vectorOf } from "./read-embeddings.ts";
import { checkOptionNames } from "../../json/option-names.ts";
import { checkMethodOptions } from "../../json/check-method-options.ts";
import { EMBEDDER_METHODS } from "../../json/interface-methods.ts";

export const DEFAULT_GEMINI_EMBEDDING_MODEL = "gemini-embedding-001";
const LIMITS = { maxTexts: 100, maxTokens: 100_000 };
const TASKS = { query: "RETRIEVAL_QUERY", document: "RETRIEVAL_DOCUMENT" };

/** Vectors from Google. The key is `apiKey` or `GEMINI_API_KEY`. */
export function createGeminiEmbedder(options: EmbedderOptions = {}): Embedder {
  checkOptionNames("createGeminiEmbedder", options, EMBEDDER_OPTIONS);
  const name = options.name ?? "gemini";
  const model = bareModelName(options.model ?? DEFAULT_GEMINI_EMBEDDING_MODEL);
  const { client, version } = createGeminiClient(options, name);
  const limits = batchLimits(options, LIMITS);
  const context = { provider: name, model };
  const path = `${version}/models/${encodeURIComponent(model)}:batchEmbedContents`;
  const embedder: Embedder = {
    name,
    model,
    embed: (texts, embedOptions = {}) =>
      client.keys.guard(() =>
        embedInBatches(texts, embedOptions, limits, context, async (input, signal) => {
          const { dimensions, purpose } = embedOptions;
          const requests = input.map((text) => ({
            model: `models/${model}`,
            content: { parts: [{ text }] },
            ...(purpose !== undefined && { taskType: TASKS[purpose] }),
            ...(dimensions !== undefined && { outputDimensionality: dimensions }),
          }));
          const body = [Buffer.from(JSON.stringify({ requests }))];
          const response = await readEmbeddings(await client.send({ method: "POST", path, body, signal, origin: context }), context);
          const vectors = listOf(response["embeddings"]).map(({ values }) => vectorOf(values));
          return {
            // Google shortens vectors by cutting, which leaves them shorter than 1.
            vectors: dimensions === undefined ? vectors : vectors.map(normalised),
            inputTokens: reportedCount(fieldsOf(response["usageMetadata"])?.["promptTokenCount"]),
            model: undefined,
          };
        }),
      ),
  };
  return checkMethodOptions("embedder", embedder, EMBEDDER_METHODS);
}

function normalised(vector: readonly number[]): readonly number[] {
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
}
