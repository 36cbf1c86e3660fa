import { UNKNOWN_USAGE, type Usage } from "@keelson/protocol";
import { countOf, fieldsOf } from "../wire-decoder.ts";
import type { ResponsesCounts } from "./responses-wire.ts";

/** Counts of the Responses API: input holds the cache, output the reasoning, with every vendor (xAI too, unlike on its chat wire). */
export function responsesUsage(usage: ResponsesCounts | undefined): Usage {
  if (usage === undefined) return UNKNOWN_USAGE;
  const input = fieldsOf(usage["input_tokens_details"]);
  const output = fieldsOf(usage["output_tokens_details"]);
  return {
    inputTokens: countOf(usage["input_tokens"]),
    outputTokens: countOf(usage["output_tokens"]),
    cacheReadTokens: countOf(input?.["cached_tokens"]),
    cacheCreationTokens: countOf(input?.["cache_write_tokens"]),
    reasoningTokens: countOf(output?.["reasoning_tokens"]),
  };
}
