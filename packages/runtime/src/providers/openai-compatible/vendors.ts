import type { EffortLevel, JsonObject } from "@keelson/protocol";
import type { CallMarkupName } from "../call-markup/call-markup.ts";
import type { ReasoningQuirks, VendorQuirks } from "./vendor-quirks.ts";

function efforts(member: (effort: string) => JsonObject, max = "high"): { readonly [level in EffortLevel]: JsonObject } {
  return { low: member("low"), medium: member("medium"), high: member("high"), max: member(max) };
}

/** DeepSeek's switch, which Z.ai and Moonshot took over. */
const THINKING_SWITCH: ReasoningQuirks = { on: { thinking: { type: "enabled" } }, off: { thinking: { type: "disabled" } } };
/** Servers that put the switch into the model's chat template. */
const TEMPLATE_SWITCH: ReasoningQuirks = {
  on: { chat_template_kwargs: { enable_thinking: true } },
  off: { chat_template_kwargs: { enable_thinking: false } },
};
const BUDGET: ReasoningQuirks = {
  on: { thinking: { type: "enabled" } },
  off: { thinking: { type: "disabled" } },
  budget: "thinking.budget_tokens",
};

/** Servers that run models of all families, whose parser of calls depends on how they were started. */
const ANY_MARKUP: readonly CallMarkupName[] = ["hermes", "qwen-xml", "kimi", "deepseek", "harmony", "python-tag", "mistral"];

/** What is known of vendors, by name. `docs/vendors.md` says how to add one. */
const VENDORS: { readonly [vendor: string]: VendorQuirks } = {
  "alibaba": {
    callMarkup: ["hermes", "qwen-xml"],
    baseUrl: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
    keyVariable: "DASHSCOPE_API_KEY",
    reasoning: {
      on: { enable_thinking: true },
      off: { enable_thinking: false },
      budget: "thinking_budget",
      effort: efforts(() => ({ enable_thinking: true })),
    },
    namedToolChoice: false,
    output: { form: "json-object" },
  },
  "anthropic": {
    baseUrl: "https://api.anthropic.com/v1",
    keyVariable: "ANTHROPIC_API_KEY",
    reasoning: { ...BUDGET, effort: efforts(() => ({})) },
    output: { form: "words" },
  },
  "azure": {
    baseUrl: "https://{AZURE_OPENAI_RESOURCE}.openai.azure.com/openai/v1",
    keyVariable: "AZURE_OPENAI_API_KEY",
    keyHeader: "api-key",
    maxTokensField: "max_completion_tokens",
    callIds: { maxLength: 40 },
  },
  "bedrock": {
    baseUrl: "https://bedrock-runtime.{AWS_REGION}.amazonaws.com/openai/v1",
    keyVariable: "AWS_BEARER_TOKEN_BEDROCK",
    maxTokensField: "max_completion_tokens",
  },
  "bedrock-mantle": {
    baseUrl: "https://bedrock-mantle.{AWS_REGION}.api.aws/v1",
    keyVariable: "AWS_BEARER_TOKEN_BEDROCK",
    maxTokensField: "max_completion_tokens",
  },
  "cerebras": {
    callMarkup: ["harmony", "hermes", "qwen-xml"],
    baseUrl: "https://api.cerebras.ai/v1",
    maxTokensField: "max_completion_tokens",
    reasoning: { off: { disable_reasoning: true } },
  },
  "cloudflare": {
    baseUrl: "https://api.cloudflare.com/client/v4/accounts/{CLOUDFLARE_ACCOUNT_ID}/ai/v1",
    keyVariable: "CLOUDFLARE_API_TOKEN",
  },
  "copilot": { baseUrl: "https://api.githubcopilot.com", keyVariable: "GITHUB_COPILOT_TOKEN", callIds: { maxLength: 40 } },
  "crusoe": { baseUrl: "https://api.inference.crusoecloud.com/v1" },
  "databricks": {
    baseUrl: "{DATABRICKS_HOST}/serving-endpoints",
    keyVariable: "DATABRICKS_TOKEN",
    // Claude behind it repeats usage in every chunk, asked or not.
    streamOptions: false,
    reasoning: BUDGET,
  },
  "deepinfra": { callMarkup: ANY_MARKUP, baseUrl: "https://api.deepinfra.com/v1/openai" },
  "deepseek": {
    callMarkup: ["deepseek"],
    baseUrl: "https://api.deepseek.com",
    reasoning: {
      ...THINKING_SWITCH,
      effort: efforts((reasoning_effort) => ({ thinking: { type: "enabled" }, reasoning_effort }), "max"),
      requiredField: "reasoning_content",
    },
    output: { form: "json-object" },
  },
  "doubleword": { baseUrl: "https://api.doubleword.ai/v1", reasoning: TEMPLATE_SWITCH },
  "fireworks": { callMarkup: ANY_MARKUP, baseUrl: "https://api.fireworks.ai/inference/v1" },
  "github-models": { baseUrl: "https://models.github.ai/inference", keyVariable: "GITHUB_TOKEN" },
  "google": {
    baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai",
    keyVariable: "GEMINI_API_KEY",
    reasoning: { off: { reasoning_effort: "none" } },
  },
  "gpustack": { callMarkup: ANY_MARKUP, local: true, baseUrl: "http://localhost/v1", reasoning: TEMPLATE_SWITCH },
  "groq": {
    callMarkup: ["harmony", "hermes", "python-tag"],
    baseUrl: "https://api.groq.com/openai/v1",
    maxTokensField: "max_completion_tokens",
    reasoning: { off: { reasoning_effort: "none" } },
  },
  "heroku": { baseUrl: "https://us.inference.heroku.com/v1", keyVariable: "INFERENCE_KEY" },
  "huggingface": { callMarkup: ANY_MARKUP, baseUrl: "https://router.huggingface.co/v1", keyVariable: "HF_TOKEN" },
  "litellm": { local: true, baseUrl: "http://localhost:4000" },
  "llamacpp": {
    callMarkup: ANY_MARKUP,
    local: true,
    baseUrl: "http://localhost:8080/v1",
    reasoning: TEMPLATE_SWITCH,
    systemOnlyFirst: true,
    namedToolChoice: false,
  },
  "lmstudio": { callMarkup: ANY_MARKUP, local: true, baseUrl: "http://localhost:1234/v1", systemOnlyFirst: true, namedToolChoice: false },
  "minimax": { baseUrl: "https://api.minimax.io/v1" },
  "mistral": {
    callMarkup: ["mistral"],
    baseUrl: "https://api.mistral.ai/v1",
    streamOptions: false,
    reasoning: {
      on: { reasoning_effort: "high" },
      off: { reasoning_effort: "none" },
      effort: efforts(() => ({ reasoning_effort: "high" })),
    },
    requiredToolChoice: "any",
    // "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9."
    callIds: { length: 9 },
    // "Unexpected role 'user' after role 'tool'"
    afterResults: "OK",
  },
  "mistralrs": {
    callMarkup: ANY_MARKUP,
    local: true,
    baseUrl: "http://localhost:1234/v1",
    reasoning: { on: { enable_thinking: true }, off: { enable_thinking: false } },
    systemOnlyFirst: true,
  },
  "moonshot": {
    callMarkup: ["kimi"],
    baseUrl: "https://api.moonshot.ai/v1",
    reasoning: { ...THINKING_SWITCH, effort: efforts(() => THINKING_SWITCH.on as JsonObject), requiredField: "reasoning_content" },
  },
  "nvidia": { callMarkup: ANY_MARKUP, baseUrl: "https://integrate.api.nvidia.com/v1", reasoning: TEMPLATE_SWITCH },
  "ollama": { callMarkup: ANY_MARKUP, local: true, baseUrl: "http://localhost:11434/v1", reasoning: { off: { reasoning_effort: "none" } } },
  "openai": { baseUrl: "https://api.openai.com/v1", maxTokensField: "max_completion_tokens", callIds: { maxLength: 40 } },
  "openrouter": {
    callMarkup: ANY_MARKUP,
    baseUrl: "https://openrouter.ai/api/v1",
    reasoning: {
      effort: efforts((effort) => ({ reasoning: { effort } }), "xhigh"),
      on: { reasoning: { enabled: true } },
      off: { reasoning: { enabled: false } },
      budget: "reasoning.max_tokens",
    },
  },
  "perplexity": { baseUrl: "https://api.perplexity.ai", systemOnlyFirst: true, joinsUserMessages: true },
  "portkey": { baseUrl: "https://api.portkey.ai/v1", keyHeader: "x-portkey-api-key" },
  "sglang": {
    callMarkup: ANY_MARKUP,
    local: true,
    baseUrl: "http://localhost:30000/v1",
    reasoning: TEMPLATE_SWITCH,
    systemOnlyFirst: true,
  },
  "snowflake": {
    baseUrl: "https://{SNOWFLAKE_ACCOUNT}.snowflakecomputing.com/api/v2/cortex/v1",
    keyVariable: "SNOWFLAKE_PAT",
    maxTokensField: "max_completion_tokens",
    reasoning: { effort: efforts((effort) => ({ reasoning: { effort } })), budget: "reasoning.max_tokens" },
  },
  "together": {
    callMarkup: ANY_MARKUP,
    baseUrl: "https://api.together.xyz/v1",
    reasoning: { on: { reasoning: { enabled: true } }, off: { reasoning: { enabled: false } } },
  },
  "venice": { baseUrl: "https://api.venice.ai/api/v1", reasoning: { off: { venice_parameters: { disable_thinking: true } } } },
  "vercel": { baseUrl: "https://ai-gateway.vercel.sh/v1", keyVariable: "AI_GATEWAY_API_KEY" },
  "vllm": { callMarkup: ANY_MARKUP, local: true, baseUrl: "http://localhost:8000/v1", reasoning: TEMPLATE_SWITCH, systemOnlyFirst: true },
  "xai": { baseUrl: "https://api.x.ai/v1", maxTokensField: "max_completion_tokens", reasoning: { replays: false } },
  "zai": {
    baseUrl: "https://api.z.ai/api/paas/v4",
    reasoning: { ...THINKING_SWITCH, effort: efforts((reasoning_effort) => ({ thinking: { type: "enabled" }, reasoning_effort })) },
    output: { form: "json-object" },
    requiredToolChoice: "auto",
    namedToolChoice: false,
  },
};

/** Other names of the same. */
const ALIASES: { readonly [name: string]: string } = {
  "anthropic-openai-compat": "anthropic",
  "bedrock-openai-compat": "bedrock",
  "dashscope": "alibaba",
  "gemini": "google",
  "google-openai-compat": "google",
  "grok": "xai",
  "hugging-face": "huggingface",
  "kimi": "moonshot",
  "litellm-proxy": "litellm",
  "llama-cpp": "llamacpp",
  "llama.cpp": "llamacpp",
  "lm-studio": "lmstudio",
  "qwen": "alibaba",
  "vllm-local": "vllm",
  "z.ai": "zai",
};

/** Vendors whose address and quirks are known. */
export const KNOWN_VENDORS: readonly string[] = Object.keys(VENDORS);

/** Returns the quirks of a vendor; none if it is not in the table. */
export function quirksOf(vendor: string): VendorQuirks {
  return ownMember(VENDORS, vendorName(vendor)) ?? {};
}

/** Returns the name of a vendor in the tables, for one of its names. */
export function vendorName(vendor: string): string {
  const name = vendor.trim().toLowerCase();
  return ownMember(ALIASES, name) ?? name;
}

function ownMember<T>(record: { readonly [name: string]: T }, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
