import type { Embedder } from "@keelson/protocol";
import type { ApiClient } from "../provider-options.ts";
import { reportedCount } from "../token-count/reported-count.ts";
import { fieldsOf, stringOf } from "../wire-decoder.ts";
import { type BatchLimits, embedInBatches } from "./embed-batches.ts";
import { listOf, readEmbeddings, vectorOf } from "./read-embeddings.ts";
import { checkMethodOptions } from "../../json/check-method-options.ts";
import { EMBEDDER_METHODS } from "../../json/interface-methods.ts";

export interface OpenAiEmbeddings {
  readonly name: string;
  readonly model: string;
  readonly client: () => ApiClient;
  readonly limits: BatchLimits;
}

/** The `/embeddings` of OpenAI, which many servers have alike. */
export function openAiEmbeddings({ name, model, client, limits }: OpenAiEmbeddings): Embedder {
  const context = { provider: name, model };
  const embedder: Embedder = {
    name,
    model,
    embed: async (texts, embedOptions = {}) =>
      client().keys.guard(() =>
        embedInBatches(texts, embedOptions, limits, context, async (input, signal) => {
          const { dimensions } = embedOptions;
          const asked = { model, input, ...(dimensions !== undefined && { dimensions }) };
          const body = [Buffer.from(JSON.stringify(asked))];
          const response = await readEmbeddings(
            await client().send({ method: "POST", path: "/embeddings", body, signal, origin: context }),
            context,
          );
          const data = listOf(response["data"]);
          const placed = data.every(({ index }) => typeof index === "number");
          const ordered = placed ? data.toSorted((a, b) => (a["index"] as number) - (b["index"] as number)) : data;
          const usage = fieldsOf(response["usage"]);
          return {
            vectors: ordered.map(({ embedding }) => vectorOf(embedding)),
            inputTokens: reportedCount(usage?.["prompt_tokens"]) ?? reportedCount(usage?.["total_tokens"]),
            model: stringOf(response["model"]) || undefined,
          };
        }),
      ),
  };
  return checkMethodOptions("embedder", embedder, EMBEDDER_METHODS);
}
