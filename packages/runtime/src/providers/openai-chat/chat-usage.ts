import { UNKNOWN_USAGE, type Usage } from "@keelson/protocol";
import { countOf, fieldsOf } from "../wire-decoder.ts";
import type { ChatCounts } from "./chat-wire.ts";

/**
 * Counts as the chat wire's vendors mean them. Input includes the cache everywhere; output is raised to `total - prompt` where
 * the total is larger than the sum, since some (xAI, Google) leave reasoning out of it.
 */
export function chatUsage(usage: ChatCounts | undefined): Usage {
  if (usage === undefined) return UNKNOWN_USAGE;
  const prompt = countOf(usage["prompt_tokens"]);
  const completion = countOf(usage["completion_tokens"]);
  const total = countOf(usage["total_tokens"]);
  const promptDetails = fieldsOf(usage["prompt_tokens_details"]);
  const completionDetails = fieldsOf(usage["completion_tokens_details"]);
  const reasoning = firstCount(completionDetails?.["reasoning_tokens"], usage["reasoning_tokens"]);
  const output = total !== null && prompt !== null && total > prompt + (completion ?? 0) ? total - prompt : completion;
  // Without a total, more thought than was completed shows that it was left out.
  const thoughtBeside = total === null && output !== null && reasoning !== null && reasoning > output;
  return {
    inputTokens: prompt,
    outputTokens: thoughtBeside ? output + reasoning : output,
    cacheReadTokens: firstCount(
      promptDetails?.["cached_tokens"],
      usage["prompt_cache_hit_tokens"],
      usage["cached_tokens"],
      usage["num_cached_tokens"],
    ),
    cacheCreationTokens: firstCount(promptDetails?.["cache_write_tokens"], usage["cache_write_tokens"]),
    reasoningTokens: reasoning,
  };
}

function firstCount(...values: readonly unknown[]): number | null {
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at];
    if (typeof value === "number" && Number.isFinite(value)) return value;
  }
  return null;
}
