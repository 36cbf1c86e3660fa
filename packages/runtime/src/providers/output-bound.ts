import type { InferRequest, JsonObject, JsonValue } from "@keelson/protocol";

/** Where a wire says how much may be generated. A path leads through members of the body. */
export interface OutputMembers {
  /** Of the limit of one response. Servers may know it by several names. */
  readonly limits: readonly (readonly string[])[];
  /** Of the number of responses, where one request may ask for several. */
  readonly counts?: readonly string[];
  /** Members of the body under which the vendor generates beside the response, which its limit does not bound. */
  readonly unbounded?: readonly string[];
  /** By how much servers pass the limit: some generate the marks of an end beside it. */
  readonly slack?: number;
}

/**
 * Models that go on thinking when their limit is reached, and bill it: 134 tokens of thought for a limit of 10 (Grok), 164 for one
 * of 100 (`o1-pro`), and whatever a search takes.
 */
const THINKS_ON = /grok-(?:3-mini|[4-9]|code)|(?:^|[/-])(?:o\d|gpt-\d[^/]*)-pro|deep-research/;
const NOT_THINKING = /non-reasoning/;

/**
 * The most tokens of output that can be billed for a request whose wire bounds what is generated, thinking included: by `maxTokens`,
 * or by what `extra` puts in its place. `null` where nothing does.
 */
export function outputBoundOf(
  { maxTokens, extra }: InferRequest,
  model: string,
  { limits, counts, unbounded, slack = 0 }: OutputMembers,
): number | null {
  if (THINKS_ON.test(model) && !NOT_THINKING.test(model)) return null;
  if (extra === undefined) return maxTokens === undefined ? null : maxTokens + slack;
  if (unbounded?.some((name) => extra[name] !== undefined && extra[name] !== null) === true) return null;
  let most = maxTokens;
  for (const path of limits) {
    const limit = memberAt(extra, path);
    if (limit === undefined) continue;
    // What is no limit takes it away.
    if (typeof limit !== "number" || !(limit > 0)) return null;
    most = Math.max(limit, limits.length > 1 ? (most ?? 0) : 0);
  }
  const count = counts === undefined ? undefined : memberAt(extra, counts);
  return most === undefined ? null : (most + slack) * (typeof count === "number" && count > 1 ? Math.ceil(count) : 1);
}

function memberAt(object: JsonObject, path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = object;
  for (const name of path) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    value = (value as JsonObject)[name];
  }
  return value;
}

/** The limits of Messages. A compaction by the vendor writes a summary beside the response. */
export const ANTHROPIC_OUTPUT: OutputMembers = { limits: [["max_tokens"]], unbounded: ["context_management"] };
export const CHAT_OUTPUT: OutputMembers = { limits: [["max_completion_tokens"], ["max_tokens"]], counts: ["n"] };
export const COMPATIBLE_OUTPUT: OutputMembers = { ...CHAT_OUTPUT, slack: 16 };
export const RESPONSES_OUTPUT: OutputMembers = { limits: [["max_output_tokens"]] };
export const GEMINI_OUTPUT: OutputMembers = {
  limits: [["generationConfig", "maxOutputTokens"]],
  counts: ["generationConfig", "candidateCount"],
};
export const AI_SDK_OUTPUT: OutputMembers = { limits: [["maxOutputTokens"]], slack: 16 };
export const OLLAMA_OUTPUT: OutputMembers = { limits: [["options", "num_predict"]] };

/** By `Provider.wire`; of servers that speak OpenAI's chat, what the loosest of them do. */
export const OUTPUT_OF_WIRE: { readonly [wire: string]: OutputMembers | undefined } = {
  "anthropic-messages": ANTHROPIC_OUTPUT,
  "openai-chat": COMPATIBLE_OUTPUT,
  "openai-responses": RESPONSES_OUTPUT,
  "gemini": GEMINI_OUTPUT,
  "ollama-chat": OLLAMA_OUTPUT,
};
