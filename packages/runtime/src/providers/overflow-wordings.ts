/** One wording in which a vendor says that the input is longer than the model's context. */
export interface OverflowWording {
  /** The vendor, or the software of the server, that writes it. */
  readonly source: string;
  readonly pattern: RegExp;
  /** A message of that vendor, for tests. */
  readonly example: string;
}

/**
 * The wordings of vendors for an input that is too long, where their codes do not say it. They were collected from the vendors' pages and
 * source, from recorded traffic, and from issues of vLLM, SGLang, llama.cpp, LM Studio, Qwen Code and Text Generation Inference.
 */
export const OVERFLOW_WORDINGS: readonly OverflowWording[] = [
  { source: "Anthropic", pattern: /prompt is too long/i, example: "prompt is too long: 213462 tokens > 200000 maximum" },
  {
    source: "Anthropic",
    pattern: /input length and .?max_tokens.? exceed/i,
    example:
      "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again",
  },
  {
    source: "OpenAI, OpenRouter, vLLM",
    pattern: /maximum context length/i,
    example: "This model's maximum context length is 8192 tokens. However, your messages resulted in 8545 tokens.",
  },
  { source: "OpenAI", pattern: /exceeds? the context window/i, example: "Your input exceeds the context window of this model." },
  {
    source: "Azure",
    pattern: /input tokens exceed the configured limit/i,
    example: "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.",
  },
  {
    source: "vLLM",
    pattern: /longer than the maximum model length/i,
    example:
      "The decoder prompt (length 21535) is longer than the maximum model length of 16384. Make sure that `max_model_len` is no smaller than the number of text tokens.",
  },
  { source: "vLLM", pattern: /\bmax_model_len\b/i, example: "The prompt (16476 tokens) exceeds max_model_len (16384)" },
  {
    source: "SGLang, Together",
    pattern: /longer than the model's context length/i,
    example: "The input (61709 tokens) is longer than the model's context length (40960 tokens).",
  },
  {
    source: "SGLang",
    pattern: /requested token count exceeds the model's maximum context length/i,
    example: "Requested token count exceeds the model's maximum context length of 32768 tokens.",
  },
  {
    source: "DashScope",
    pattern: /range of input length should be/i,
    example: "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 204800]",
  },
  {
    source: "DashScope",
    pattern: /input length .{0,20}exceeds? the maximum/i,
    example: "The input length 40000 exceeds the maximum length 30720",
  },
  {
    source: "llama.cpp",
    pattern: /exceeds the available context size/i,
    example: "request (9211 tokens) exceeds the available context size (8192 tokens), try increasing it",
  },
  { source: "llama.cpp, LM Studio", pattern: /context size has been exceeded/i, example: "Context size has been exceeded." },
  {
    source: "LM Studio",
    pattern: /trying to keep the first \d+ tokens/i,
    example:
      "Trying to keep the first 15857 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.",
  },
  {
    source: "LM Studio",
    pattern: /mid-generation context overflow/i,
    example: "Reached context length of 4096 tokens with model (arch: x) that does not currently support mid-generation context overflow.",
  },
  {
    source: "LM Studio",
    pattern: /greater than the context length/i,
    example: "tokens to keep from the initial prompt is greater than the context length",
  },
  {
    source: "Ollama",
    pattern: /exceeded (?:max )?context length|input length exceeds (?:the )?context length/i,
    example: "prompt too long; exceeded max context length by 120 tokens",
  },
  {
    source: "Text Generation Inference",
    pattern: /inputs.{0,3} tokens \+ .?max_new_tokens.? must be/i,
    example:
      "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 20 `max_new_tokens`",
  },
  {
    source: "Text Generation Inference",
    pattern: /inputs.{0,3} must have less than \d+ tokens/i,
    example: "Input validation error: `inputs` must have less than 4095 tokens. Given: 5000",
  },
  {
    source: "Google",
    pattern: /input token count.*exceeds the maximum number of tokens/i,
    example: "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
  },
  { source: "Bedrock", pattern: /input is too long/i, example: "Input is too long for requested model." },
  {
    source: "Bedrock",
    pattern: /too many (?:input |prompt )tokens/i,
    example: "Too many input tokens. Max input tokens: 8192, request input token count: 9000",
  },
  {
    source: "Mistral",
    pattern: /too large for model with \d+ maximum context length/i,
    example: "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
  },
  {
    source: "Groq",
    pattern: /reduce the length of the (?:messages|input prompt)/i,
    example: "Please reduce the length of the messages or completion.",
  },
  {
    source: "Cerebras",
    pattern: /current length is \d+ while limit is \d+/i,
    example: "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192",
  },
  {
    source: "xAI",
    pattern: /maximum prompt length/i,
    example: "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
  },
  {
    source: "Moonshot",
    pattern: /exceeded model token limit/i,
    example: "Invalid request: Your request exceeded model token limit: 131072 (requested: 150000)",
  },
  {
    source: "Z.ai",
    pattern: /prompt exceeds (?:the )?max(?:imum)?(?: context)? length|model_context_window_exceeded/i,
    example: "Prompt exceeds max length",
  },
  { source: "MiniMax", pattern: /context window exceeds limit/i, example: "invalid params, context window exceeds limit (2013)" },
  {
    source: "GitHub Copilot",
    pattern: /prompt token count of \d+ exceeds/i,
    example: "prompt token count of 150000 exceeds the limit of 128000",
  },
  {
    source: "Poolside",
    pattern: /exceeds the maximum allowed input length/i,
    example: "The prompt exceeds the maximum allowed input length",
  },
  {
    source: "several servers",
    pattern:
      /(?:exceed(?:s|ed|ing)?|over|beyond|than|overflows?) (?:the |its |your |this |a )?(?:model.s |maximum |max |available )*context(?:[ _-](?:length|window|size|limit))?\b/i,
    example: "the prompt exceeds the model's context length",
  },
  {
    source: "several servers",
    pattern: /context[ _-](?:length|window|size)[ _-]?(?:limit )?(?:was |is |has been )?(?:exceeded|overflow)/i,
    example: "context_length_exceeded: shorten the prompt",
  },
];

/** A limit of rate or quota: waiting helps, a shorter conversation does not. */
const RATE_LIMIT = /rate.?limit|too many requests|throttl|quota|tokens? per (?:min|minute|day|hour)|\bTPM\b|\bTPD\b|\bRPM\b/i;
/** A limit of the response that is wrong by itself. */
const WRONG_LIMIT =
  /(?:max_(?:completion_|new_|output_)?tokens|maxOutputTokens).{0,40}(?:is too (?:large|big|high)|should be|is invalid|invalid|out of range|at most|cannot exceed|must (?:be|not))|(?:invalid|range of).{0,20}max_(?:completion_|new_|output_)?tokens|supports at most \d+ (?:completion|output) tokens/i;

/** True if a vendor's message says that the input is too long for the model, so that a shorter conversation helps. */
export function saysOverflow(message: string): boolean {
  if (RATE_LIMIT.test(message)) return false;
  if (WRONG_LIMIT.test(message) && !/inputs.{0,3} tokens \+/i.test(message)) return fillsHalf(message);
  return OVERFLOW_WORDINGS.some(({ pattern }) => pattern.test(message));
}

/**
 * A limit of the response is often wrong only because the input takes the room (vLLM: "max_tokens is too large: 4096. This model's maximum
 * context length is 32768 tokens and your request has 30000 input tokens"). Returns true if the input takes half of the room at least.
 */
function fillsHalf(message: string): boolean {
  const context = Number(/context length is (\d+)/i.exec(message)?.[1]);
  const input = Number(/(\d+) input tokens/i.exec(message)?.[1]);
  return input * 2 >= context;
}
