import { COMMON_IMAGES, COMMON_NAMES, type WireRules } from "../wire-rules.ts";

/** OpenAI's Chat Completions and Responses API: an object at the top without alternatives, lists with `items`, no lookaround. */
export const OPENAI_RULES: WireRules = {
  vendor: "OpenAI",
  names: COMMON_NAMES,
  images: COMMON_IMAGES,
  schemas: { references: "keep", patterns: "portable", tuples: "lower", maxDepth: 32, maxLength: 100_000 },
  sources: [
    "https://platform.openai.com/docs/api-reference/chat/create",
    "https://platform.openai.com/docs/guides/structured-outputs",
    "https://github.com/langchain-ai/langchainjs/issues/9804",
    "https://github.com/sigoden/aichat/pull/1049",
    "https://github.com/anomalyco/opencode/issues/32073",
    "https://github.com/makenotion/notion-mcp-server/issues/102",
  ],
};
