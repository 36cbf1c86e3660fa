import type { WireRules } from "../wire-rules.ts";

/**
 * Google's Gemini API. The subset of OpenAPI that `Schema` is comes from `lower-schema.ts`, which reads what these rules leave.
 * The limit of names is that of the older versions; the newer take 128. Messages of protobuf nest 100 deep at most, and a level of
 * arguments takes three.
 */
export const GEMINI_RULES: WireRules = {
  vendor: "Gemini",
  names: { first: "a-zA-Z_", rest: "a-zA-Z0-9_-", maxLength: 64 },
  images: ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"],
  schemas: { references: "inline", patterns: "portable", tuples: "lower", maxDepth: 20, maxLength: 100_000 },
  maxArgumentDepth: 24,
  sources: [
    "https://ai.google.dev/api/caching#FunctionDeclaration",
    "https://ai.google.dev/api/caching#Schema",
    "https://github.com/kaitranntt/ccs/issues/25",
    "https://github.com/cline/cline/issues/7339",
    "https://github.com/decolua/9router/issues/359",
    "https://protobuf.dev/programming-guides/proto-limits/",
  ],
};
