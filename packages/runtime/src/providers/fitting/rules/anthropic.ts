import { COMMON_IMAGES, COMMON_NAMES, type WireRules } from "../wire-rules.ts";

/**
 * Anthropic's Messages API. Names may have 128 characters on newer versions; 64 are accepted by all of them. Schemas are checked
 * against draft 2020-12, references included; alternatives at the top and other characters in property keys are refused.
 */
export const ANTHROPIC_RULES: WireRules = {
  vendor: "Anthropic",
  names: COMMON_NAMES,
  images: COMMON_IMAGES,
  schemas: {
    references: "keep",
    patterns: "keep",
    tuples: "keep",
    keys: { first: "a-zA-Z0-9_.-", rest: "a-zA-Z0-9_.-", maxLength: 64 },
    maxDepth: 32,
    maxLength: 100_000,
  },
  sources: [
    "https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools",
    "https://platform.claude.com/docs/en/managed-agents/self-hosted-sandboxes",
    "https://github.com/anthropics/claude-code/issues/5973",
    "https://github.com/anthropics/claude-code/issues/586",
    "https://github.com/beautyfree/appstore-connect-mcp/issues/2",
    "https://github.com/anthropics/claude-code/issues/3277",
  ],
};
