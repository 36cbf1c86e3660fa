import type { Embedder } from "@keelson/protocol";
import { createOpenAiClient } from "../openai-client.ts";
import { batchLimits, EMBEDDER_OPTIONS, type EmbedderOptions } from "./embedder-options.ts";
import { openAiEmbeddings } from "./openai-embeddings.ts";
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
  const client = createOpenAiClient(options, name);
  return openAiEmbeddings({
    name,
    model: options.model ?? DEFAULT_OPENAI_EMBEDDING_MODEL,
    client: () => client,
    limits: batchLimits(options, LIMITS),
  });
}
