import type { WireRules } from "../wire-rules.ts";

/** Models of the AI SDK. Any vendor may serve one, so that these rules are those of all vendors together. */
export const AI_SDK_RULES: WireRules = {
  vendor: "the AI SDK",
  names: { first: "a-zA-Z", rest: "a-zA-Z0-9_-", maxLength: 64 },
  schemas: {
    references: "inline",
    patterns: "portable",
    tuples: "lower",
    typeInAlternatives: true,
    keys: { first: "a-zA-Z0-9_.-", rest: "a-zA-Z0-9_.-", maxLength: 64 },
    maxDepth: 20,
    maxLength: 100_000,
  },
  sources: [
    "https://ai-sdk.dev/docs/ai-sdk-core/tools-and-tool-calling",
    "https://github.com/vercel/ai/issues/16021",
    "https://github.com/beautyfree/appstore-connect-mcp/issues/2",
    "https://github.com/kaitranntt/ccs/issues/25",
  ],
};
