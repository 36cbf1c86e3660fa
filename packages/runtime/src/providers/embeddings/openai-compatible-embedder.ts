import type { Embedder } from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import { compatibleClient } from "../openai-compatible/compatible-client.ts";
import { quirksOf } from "../openai-compatible/vendors.ts";
import { batchLimits, EMBEDDER_OPTIONS, type EmbedderOptions } from "./embedder-options.ts";
import { openAiEmbeddings } from "./openai-embeddings.ts";

export interface OpenAiCompatibleEmbedderOptions extends EmbedderOptions {
  /** Who serves it, as in `mistral`, `together`. One that is not known is taken for an ordinary server, and needs a `baseUrl`. */
  readonly vendor: string;
  readonly model: string;
}

/** What the strictest of the servers take. */
const LIMITS = { maxTexts: 64, maxTokens: 100_000 };

/**
 * Vectors from the many servers that have OpenAI's `/embeddings`. Address and key come from the same table as those of
 * `createOpenAiCompatibleProvider`; the key is `apiKey` or the vendor's environment variable.
 */
export function createOpenAiCompatibleEmbedder(options: OpenAiCompatibleEmbedderOptions): Embedder {
  checkOptionNames("createOpenAiCompatibleEmbedder", options, { ...EMBEDDER_OPTIONS, vendor: true });
  const { vendor, model } = options;
  const name = options.name ?? vendor;
  const client = compatibleClient({ options, vendor, quirks: quirksOf(vendor), name });
  return openAiEmbeddings({ name, model, client, limits: batchLimits(options, LIMITS) });
}
