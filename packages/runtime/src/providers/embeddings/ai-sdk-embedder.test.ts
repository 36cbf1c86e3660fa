import { ModelError } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { type AiSdkEmbeddingModel, createAiSdkEmbedder } from "./ai-sdk-embedder.ts";

type Asked = { readonly [option: string]: unknown };
const modelOf = (changes: Partial<AiSdkEmbeddingModel> = {}): AiSdkEmbeddingModel & { readonly asked: Asked[] } => {
  const asked: Asked[] = [];
  return {
    specificationVersion: "v3",
    provider: "vendor.embedding",
    modelId: "em-1",
    maxEmbeddingsPerCall: 2,
    supportsParallelCalls: true,
    asked,
    async doEmbed(options) {
      asked.push(options);
      const values = options["values"] as readonly string[];
      return { embeddings: values.map((text) => [text.length, 1]), usage: { tokens: values.length } };
    },
    ...changes,
  };
};

describe("createAiSdkEmbedder", () => {
  it("asks a model of the AI SDK for as many texts at once as it takes, and sums what they cost", async () => {
    const model = modelOf({ maxEmbeddingsPerCall: Promise.resolve(2), supportsParallelCalls: Promise.resolve(false) });
    const embedder = createAiSdkEmbedder(model, { headers: { "x-team": "a" }, providerOptions: { vendor: { inputType: "query" } } });
    const result = await embedder.embed(["a", "bb", "ccc"]);
    expect(result).toEqual({
      vectors: [
        [1, 1],
        [2, 1],
        [3, 1],
      ],
      usage: { inputTokens: 3 },
      model: "em-1",
    });
    expect(model.asked).toMatchObject([
      { values: ["a", "bb"], headers: { "x-team": "a" }, providerOptions: { vendor: { inputType: "query" } } },
      { values: ["ccc"] },
    ]);
    expect(embedder).toMatchObject({ name: "vendor.embedding", model: "em-1" });
  });

  it("tells failures of the model as ours, and counts nothing where it tells no usage", async () => {
    const failing = modelOf({
      doEmbed: () => Promise.reject(Object.assign(new Error("slow down"), { name: "AI_APICallError", statusCode: 429 })),
    });
    const error = await createAiSdkEmbedder(failing)
      .embed(["a"])
      .catch((reason: unknown) => reason);
    expect(ModelError.is(error) && error.failure).toMatchObject({ kind: "rate-limit", model: "em-1" });
    const silent = modelOf({ doEmbed: async () => ({ embeddings: [[1]] }) });
    expect((await createAiSdkEmbedder(silent).embed(["a"])).usage).toEqual({ inputTokens: null });
  });

  it.each([
    [{ ...modelOf(), specificationVersion: "v1" }, /version 1/],
    [{ doStream: () => {} }, /language model/],
    [Promise.resolve(modelOf()), /promise/],
    [{}, /no doEmbed/],
  ])("refuses what is no embedding model where it is given", (model, why) => {
    expect(() => createAiSdkEmbedder(model as never)).toThrow(why);
  });
});
