import type { EffortLevel, ModelCapabilities } from "@keelson/protocol";
import { modelFamily } from "./history/model-family.ts";
import { findListed } from "./listed-models.ts";

/** What is known of a model; what is absent is unknown, and nothing is refused for it. */
export interface ModelFacts {
  /** Tokens of input and output together. */
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
  readonly capabilities?: Partial<ModelCapabilities>;
  readonly supportedEffortLevels?: readonly EffortLevel[];
}

/** Facts by model, each named as in a price table. They go before the built-in ones, member by member. */
export type ModelFactTable = { readonly [model: string]: ModelFacts };

interface Family {
  /** Takes the names of a whole family, without dates and without the names that hosts put before them. */
  readonly names: RegExp;
  readonly facts: ModelFacts;
}

const TEXT_ONLY: Partial<ModelCapabilities> = { vision: false };
const NO_LEVELS = { effortLevels: false } as const;

/**
 * What the vendors' pages say that their models cannot do, as of 2026-09. Only what is sure stands here: a request is refused for
 * it before it is sent. The first line that takes a name holds.
 */
const FAMILIES: readonly Family[] = [
  {
    names: /^claude-(?:2|v2|instant|v1)/,
    facts: { maxOutputTokens: 4096, capabilities: { vision: false, toolCalling: false, structuredOutput: false, ...NO_LEVELS } },
  },
  { names: /^claude-3-(?:haiku|opus|sonnet)/, facts: { maxOutputTokens: 4096, capabilities: { structuredOutput: false, ...NO_LEVELS } } },
  { names: /^claude-3[-.]5/, facts: { maxOutputTokens: 8192, capabilities: { structuredOutput: false, ...NO_LEVELS } } },
  { names: /^claude-3[-.]7/, facts: { maxOutputTokens: 128_000, capabilities: { structuredOutput: false, ...NO_LEVELS } } },
  { names: /^claude-(?:opus-4(?:-[01])?|4-opus)$/, facts: { maxOutputTokens: 32_000, capabilities: NO_LEVELS } },
  { names: /^claude-(?:sonnet-4(?:-[05])?|4-sonnet|haiku-4-5)$/, facts: { maxOutputTokens: 64_000, capabilities: NO_LEVELS } },
  {
    names: /^gpt-3\.5-turbo-instruct/,
    facts: { maxOutputTokens: 4096, capabilities: { vision: false, toolCalling: false, structuredOutput: false, ...NO_LEVELS } },
  },
  { names: /^gpt-3(?:\.5|5)-/, facts: { maxOutputTokens: 4096, capabilities: { vision: false, structuredOutput: false, ...NO_LEVELS } } },
  {
    names: /^gpt-4(?:-(?:0314|0613|32k.*))?$/,
    facts: { maxOutputTokens: 8192, capabilities: { vision: false, structuredOutput: false, ...NO_LEVELS } },
  },
  { names: /^gpt-4-turbo/, facts: { maxOutputTokens: 4096, capabilities: { structuredOutput: false, ...NO_LEVELS } } },
  { names: /^chatgpt-4o/, facts: { maxOutputTokens: 16_384, capabilities: { toolCalling: false, ...NO_LEVELS } } },
  { names: /^gpt-4o/, facts: { maxOutputTokens: 16_384, capabilities: NO_LEVELS } },
  { names: /^gpt-4\.1/, facts: { maxOutputTokens: 32_768, capabilities: NO_LEVELS } },
  { names: /^o1-(?:mini|preview)/, facts: { capabilities: { vision: false, toolCalling: false, structuredOutput: false, ...NO_LEVELS } } },
  { names: /^o3-mini/, facts: { maxOutputTokens: 100_000, capabilities: TEXT_ONLY } },
  { names: /^o[134](?:-|$)/, facts: { maxOutputTokens: 100_000 } },
  { names: /^gpt-5(?:[.-]|$)(?!.*chat)/, facts: { maxOutputTokens: 128_000 } },
  { names: /^gpt-oss/, facts: { capabilities: TEXT_ONLY } },
  {
    names: /^(?:text-embedding|embed-|mistral-embed|voyage-|gemini-embedding)/,
    facts: { capabilities: { toolCalling: false, vision: false, structuredOutput: false, ...NO_LEVELS } },
  },
  { names: /^gemini-(?:1\.5|2\.0)/, facts: { maxOutputTokens: 8192 } },
  { names: /^gemini-(?:2\.5|3)/, facts: { maxOutputTokens: 65_536 } },
  { names: /^deepseek-(?:chat|reasoner|coder|r1|v3)/, facts: { capabilities: TEXT_ONLY } },
  { names: /^sonar/, facts: { capabilities: { toolCalling: false } } },
  { names: /^grok-(?:3|code)/, facts: { capabilities: TEXT_ONLY } },
  { names: /^(?:codestral|open-mistral-7b|open-mixtral|mistral-tiny)/, facts: { capabilities: TEXT_ONLY } },
  { names: /^(?:meta-)?llama-?3[.-](?:1|3)/, facts: { capabilities: TEXT_ONLY } },
];

/** What is known of a model under this name, with or without its provider. */
export function modelFacts(reference: string, overrides?: ModelFactTable): ModelFacts {
  const listed = builtInFacts(reference);
  const own = overrides === undefined ? undefined : overrideFor(reference, overrides);
  if (own === undefined) return listed;
  return { ...listed, ...own, capabilities: { ...listed.capabilities, ...own.capabilities } };
}

/** What was asked before: each run asks for the same few names. */
const asked = new Map<string, ModelFacts>();
const MAX_ASKED = 1000;

function builtInFacts(reference: string): ModelFacts {
  let facts = asked.get(reference);
  if (facts !== undefined) return facts;
  const family = modelFamily(reference).toLowerCase();
  facts = FAMILIES.find(({ names }) => names.test(family))?.facts ?? {};
  const contextWindow = findListed(reference)?.contextWindow ?? undefined;
  if (contextWindow !== undefined) facts = { ...facts, contextWindow };
  if (asked.size >= MAX_ASKED) asked.clear();
  asked.set(reference, facts);
  return facts;
}

function overrideFor(reference: string, overrides: ModelFactTable): ModelFacts | undefined {
  for (let name = reference; ; name = name.slice(name.indexOf("/") + 1)) {
    if (Object.hasOwn(overrides, name)) return overrides[name];
    if (!name.includes("/")) return undefined;
  }
}
