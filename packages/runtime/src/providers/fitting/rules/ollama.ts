import { COMMON_NAMES, type WireRules } from "../wire-rules.ts";

/**
 * Ollama's own API. The server reads schemas into structures (`api.ToolProperty`): values of another shape are refused, and
 * references and unknown keywords never reach the model.
 */
export const OLLAMA_RULES: WireRules = {
  vendor: "Ollama",
  names: COMMON_NAMES,
  schemas: {
    references: "inline",
    patterns: "portable",
    tuples: "lower",
    without: ["const", "oneOf", "allOf"],
    maxDepth: 24,
    maxLength: 100_000,
  },
  sources: [
    "https://github.com/ollama/ollama/blob/main/docs/api.md",
    "https://github.com/ollama/ollama/blob/main/api/types.go",
    "https://github.com/ollama/ollama/issues/10328",
    "https://github.com/diegosouzapw/OmniRoute/issues/13590",
  ],
};
