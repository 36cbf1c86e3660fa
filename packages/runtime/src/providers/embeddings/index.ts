export { type AiSdkEmbedderOptions, type AiSdkEmbeddingModel, createAiSdkEmbedder } from "./ai-sdk-embedder.ts";
export { budgetEmbeddings, type EmbeddingBudgetOptions } from "./budget-embeddings.ts";
export { cacheEmbeddings, type EmbeddingCacheOptions } from "./cache-embeddings.ts";
export { createOpenAiCompatibleEmbedder, type OpenAiCompatibleEmbedderOptions } from "./openai-compatible-embedder.ts";
export { type EmbedderOptions } from "./embedder-options.ts";
export { DEFAULT_GEMINI_EMBEDDING_MODEL, createGeminiEmbedder } from "./gemini-embedder.ts";
export { DEFAULT_OLLAMA_EMBEDDING_MODEL, type OllamaEmbedderOptions, createOllamaEmbedder } from "./ollama-embedder.ts";
export { DEFAULT_OPENAI_EMBEDDING_MODEL, createOpenAiEmbedder } from "./openai-embedder.ts";
// What its signatures are made of, so that the protocol need not be installed beside this package.
export type { Embedder } from "@keelson/protocol";
