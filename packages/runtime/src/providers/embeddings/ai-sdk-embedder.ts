import { type Embedder, ModelError } from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import { aiSdkFailure } from "../ai-sdk/ai-sdk-failure.ts";
import { countOf, fieldsOf } from "../wire-decoder.ts";
import { embedInBatches } from "./embed-batches.ts";
import { batchLimits } from "./embedder-options.ts";
import { checkMethodOptions } from "../../json/check-method-options.ts";
import { EMBEDDER_METHODS } from "../../json/interface-methods.ts";

/** An embedding model as the AI SDK's providers make them (`EmbeddingModelV2` to `V4` of `@ai-sdk/provider`), by the part that is used here. */
export interface AiSdkEmbeddingModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  readonly maxEmbeddingsPerCall?: number | undefined | PromiseLike<number | undefined>;
  readonly supportsParallelCalls?: boolean | PromiseLike<boolean>;
  // In method syntax, so that models with stricter options fit.
  doEmbed(options: { [option: string]: unknown }): PromiseLike<{
    readonly embeddings: readonly (readonly number[])[];
    readonly usage?: { readonly tokens: number } | undefined;
  }>;
}

export interface AiSdkEmbedderOptions {
  /** What failures call it. Default: the model's own `provider`. */
  readonly name?: string | undefined;
  /** Sent with every request, where the model sends requests. */
  readonly headers?: { readonly [name: string]: string } | undefined;
  /** `providerOptions` of every call. How a vendor is asked for shorter vectors, or for those of queries, is said here. */
  readonly providerOptions?: { readonly [provider: string]: { readonly [option: string]: unknown } } | undefined;
  /** Texts in one request, at most. Default: what the model says. */
  readonly maxBatchTexts?: number | undefined;
  /** Tokens in one request, at most, counted as one for each byte of the texts. Default 100,000. */
  readonly maxBatchTokens?: number | undefined;
  /** Requests at a time. Default 4, and 1 for models that say that they can't take more. */
  readonly concurrency?: number | undefined;
}

const OPTIONS = { name: true, headers: true, providerOptions: true, maxBatchTexts: true, maxBatchTokens: true, concurrency: true } as const;

/** Any embedding model of the AI SDK: `createAiSdkEmbedder(mistral.textEmbeddingModel("mistral-embed"))`. */
export function createAiSdkEmbedder(model: AiSdkEmbeddingModel, options: AiSdkEmbedderOptions = {}): Embedder {
  checkOptionNames("createAiSdkEmbedder", options, OPTIONS);
  checkModel(model);
  const { headers, providerOptions } = options;
  const name = options.name ?? model.provider;
  const context = { provider: name, model: model.modelId };
  const embedder: Embedder = {
    name,
    model: model.modelId,
    async embed(texts, embedOptions = {}) {
      const mostTexts = (await model.maxEmbeddingsPerCall) ?? Number.POSITIVE_INFINITY;
      const isParallel = (await model.supportsParallelCalls) !== false;
      const limits = batchLimits(
        { ...options, concurrency: options.concurrency ?? (isParallel ? undefined : 1) },
        { maxTexts: mostTexts, maxTokens: 100_000 },
      );
      return embedInBatches(texts, embedOptions, limits, context, async (values, signal) => {
        try {
          const result = await model.doEmbed({
            values,
            abortSignal: signal,
            ...(headers && { headers }),
            ...(providerOptions && { providerOptions }),
          });
          const { embeddings, usage } = fieldsOf(result) ?? {};
          return {
            vectors: Array.isArray(embeddings) ? (embeddings as readonly (readonly number[])[]) : [],
            inputTokens: countOf(fieldsOf(usage)?.["tokens"]),
            model: undefined,
          };
        } catch (error) {
          throw aiSdkFailure(error, context, signal);
        }
      });
    },
  };
  return checkMethodOptions("embedder", embedder, EMBEDDER_METHODS);
}

/** @throws ModelError of kind `invalid-request` for what no provider of the AI SDK makes as an embedding model */
function checkModel(model: unknown): asserts model is AiSdkEmbeddingModel {
  const fields = fieldsOf(model);
  const isModel = typeof fields?.["doEmbed"] === "function" && ["provider", "modelId"].every((name) => typeof fields[name] === "string");
  if (isModel && fields["specificationVersion"] !== "v1") return;
  const why =
    model instanceof Promise
      ? "this is a promise; await it first"
      : isModel
        ? "this is of version 1 of its interface; update the package that makes it"
        : typeof fields?.["doStream"] === "function"
          ? "this is a language model"
          : "this has no doEmbed(), provider and modelId";
  throw new ModelError({
    kind: "invalid-request",
    progress: "unsent",
    message: `createAiSdkEmbedder takes an embedding model of the AI SDK, such as mistral.textEmbeddingModel("mistral-embed"): ${why}`,
    provider: "ai-sdk",
  });
}
