import { UNKNOWN_USAGE, type Usage } from "@keelson/protocol";
import { maxOutputOf } from "../token-count/max-output.ts";
import { reconcileCounts } from "../token-count/reconcile-counts.ts";
import { largestCount, reportedCount } from "../token-count/reported-count.ts";
import { type DecoderContext, fieldsOf } from "../wire-decoder.ts";
import type { ChatCounts } from "./chat-wire.ts";

/** Reads the counts of the chat wire, under the names that its many servers have for them. A gateway may fill several, some with zero. */
export function chatUsage(usage: ChatCounts | undefined, context: DecoderContext): Usage {
  if (usage === undefined) return UNKNOWN_USAGE;
  const prompt = fieldsOf(usage["prompt_tokens_details"]);
  const completion = fieldsOf(usage["completion_tokens_details"]);
  return reconcileCounts(
    {
      prompt: reportedCount(usage["prompt_tokens"] ?? usage["input_tokens"]),
      completion: reportedCount(usage["completion_tokens"] ?? usage["output_tokens"]),
      total: reportedCount(usage["total_tokens"]),
      cacheRead: largestCount(
        prompt?.["cached_tokens"],
        prompt?.["cache_read_input_tokens"],
        usage["prompt_cache_hit_tokens"],
        usage["cached_tokens"],
        usage["num_cached_tokens"],
        usage["cache_read_input_tokens"],
      ),
      cacheWrite: largestCount(
        prompt?.["cache_write_tokens"],
        prompt?.["cache_creation_tokens"],
        prompt?.["cache_creation_input_tokens"],
        usage["cache_write_tokens"],
        usage["cache_creation_input_tokens"],
      ),
      reasoning: largestCount(completion?.["reasoning_tokens"], usage["reasoning_tokens"]),
    },
    () => maxOutputOf(context),
  );
}

/** True if a report counts nothing. Some gateways send one behind the true report. */
export function countsNothing(usage: ChatCounts): boolean {
  return largestCount(usage["prompt_tokens"], usage["completion_tokens"], usage["total_tokens"]) === 0;
}
