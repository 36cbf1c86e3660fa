import { ANTHROPIC_RULES } from "./anthropic.ts";
import { GEMINI_RULES } from "./gemini.ts";
import { OPENAI_RULES } from "./openai.ts";
import type { WireRules } from "../wire-rules.ts";

/** Most servers of the chat wire accept the names and schemas that OpenAI accepts. */
const COMMON: WireRules = { ...OPENAI_RULES, vendor: "servers of the chat wire" };

/** Routers in front of every vendor: a request must fit all of them. */
const ROUTER: WireRules = {
  ...COMMON,
  vendor: "routers",
  names: { first: "a-zA-Z", rest: "a-zA-Z0-9_-", maxLength: 64 },
  schemas: { ...OPENAI_RULES.schemas, keys: { first: "a-zA-Z0-9_.-", rest: "a-zA-Z0-9_.-", maxLength: 64 } },
  sources: [...OPENAI_RULES.sources, ...ANTHROPIC_RULES.sources],
};

/** Claude behind the chat wire: its own conditions for keys and patterns of names. */
const CLAUDE: WireRules = {
  ...COMMON,
  vendor: "Claude behind the chat wire",
  schemas: { ...OPENAI_RULES.schemas, keys: { first: "a-zA-Z0-9_.-", rest: "a-zA-Z0-9_.-", maxLength: 64 } },
  sources: ANTHROPIC_RULES.sources,
};

const GOOGLE: WireRules = {
  ...COMMON,
  vendor: "Gemini behind the chat wire",
  names: GEMINI_RULES.names,
  schemas: { ...GEMINI_RULES.schemas, typed: true, typeInAlternatives: true, without: ["const", "oneOf", "allOf"] },
  sources: GEMINI_RULES.sources,
};

/** "when using anyOf, type should be defined in anyOf items instead of the parent schema"; names must begin with a letter. */
const MOONSHOT: WireRules = {
  ...COMMON,
  vendor: "Moonshot",
  names: { first: "a-zA-Z", rest: "a-zA-Z0-9_-", maxLength: 64 },
  schemas: { ...OPENAI_RULES.schemas, typeInAlternatives: true, typed: true },
  sources: ["https://github.com/MoonshotAI/kimi-cli/issues/2531", "https://github.com/MoonshotAI/kimi-code/issues/2661"],
};

const OLLAMA: WireRules = {
  ...COMMON,
  vendor: "Ollama behind the chat wire",
  schemas: { ...OPENAI_RULES.schemas, references: "inline", without: ["const", "oneOf", "allOf"], maxDepth: 24 },
  sources: ["https://github.com/ollama/ollama/blob/main/docs/openai.md", "https://github.com/diegosouzapw/OmniRoute/issues/13590"],
};

/** Rules by the vendor's name in `vendors.ts`. All other vendors are ordinary servers. */
const VENDORS: { readonly [vendor: string]: WireRules } = {
  anthropic: CLAUDE,
  bedrock: CLAUDE,
  copilot: ROUTER,
  databricks: CLAUDE,
  google: GOOGLE,
  litellm: ROUTER,
  moonshot: MOONSHOT,
  ollama: OLLAMA,
  openrouter: ROUTER,
  portkey: ROUTER,
  snowflake: CLAUDE,
  vercel: ROUTER,
};

/** Returns the rules of a server of the chat wire. @param vendor its name in the table of vendors */
export function compatibleRules(vendor: string): WireRules {
  return Object.hasOwn(VENDORS, vendor) ? (VENDORS[vendor] as WireRules) : COMMON;
}
