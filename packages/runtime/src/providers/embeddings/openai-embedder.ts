import type { Embedder } from "@keelson/protocol";
import { createOpenAiClient } from "../openai-client.ts";
import { countOf, fieldsOf, stringOf } from "../wire-decoder.ts";
import { embedInBatches } from "./embed-batches.ts";
import { batchLimits, EMBEDDER_OPTIONS, type EmbedderOptions } from "./embedder-options.ts";
import { listOf, readEmbeddings, vectorOf } from "./read-embeddings.ts";
import { checkOptionNames } from "../../json/option-names.ts";

export const DEFAULT_OPENAI_EMBEDDING_MODEL = "text-embedding-3-small";
const LIMITS = { maxTexts: 2048, maxTokens: 300_000 };

/**
 * Vectors from OpenAI, or from any server that has its `/embeddings` under `baseUrl`. The key is `apiKey` or `OPENAI_API_KEY`; a
 * server of one's own may want none.
 */
export function createOpenAiEmbedder(options: EmbedderOptions = {}): Embedder {
  checkOptionNames("createOpenAiEmbedder", options, EMBEDDER_OPTIONS);
  const name = options.name ?? "openai";
  const model = options.model ?? DEFAULT_OPENAI_EMBEDDING_MODEL;
  const client = createOpenAiClient(options, name);
  const limits = batchLimits(options, LIMITS);
  const context = { provider: name, model };
  return {
    name,
    model,
    embed: (texts, embedOptions = {}) =>
      client.keys.guard(() =>
        embedInBatches(texts, embedOptions, limits, context, async (input, signal) => {
          const { dimensions } = embedOptions;
          const asked = { model, input, ...(dimensions !== undefined && { dimensions }) };
          const body = [Buffer.from(JSON.stringify(asked))];
          const response = await readEmbeddings(
            await client.send({ method: "POST", path: "/embeddings", body, signal, origin: context }),
            context,
          );
          const data = listOf(response["data"]);
          const placed = data.every(({ index }) => typeof index === "number");
          const ordered = placed ? data.toSorted((a, b) => (a["index"] as number) - (b["index"] as number)) : data;
          const usage = fieldsOf(response["usage"]);
          return {
            vectors: ordered.map(({ embedding }) => vectorOf(embedding)),
            inputTokens: countOf(usage?.["prompt_tokens"]) ?? countOf(usage?.["total_tokens"]),
            model: stringOf(response["model"]) || undefined,
          };
        }),
      ),
  };
}
