import { UNKNOWN_USAGE, type Usage } from "@keelson/protocol";
import { NOTHING_HIDDEN, reconcileCounts } from "../token-count/reconcile-counts.ts";
import { largestCount, reportedCount } from "../token-count/reported-count.ts";
import { fieldsOf } from "../wire-decoder.ts";
import type { ResponsesCounts } from "./responses-wire.ts";

/** Reads the counts of the Responses API: input holds the cache, output the reasoning, but for gateways in front of other APIs. */
export function responsesUsage(usage: ResponsesCounts | undefined): Usage {
  if (usage === undefined) return UNKNOWN_USAGE;
  const input = fieldsOf(usage["input_tokens_details"]);
  const output = fieldsOf(usage["output_tokens_details"]);
  return reconcileCounts(
    {
      prompt: reportedCount(usage["input_tokens"] ?? usage["prompt_tokens"]),
      completion: reportedCount(usage["output_tokens"] ?? usage["completion_tokens"]),
      total: reportedCount(usage["total_tokens"]),
      cacheRead: largestCount(input?.["cached_tokens"], usage["cache_read_input_tokens"]),
      cacheWrite: largestCount(input?.["cache_write_tokens"], usage["cache_creation_input_tokens"]),
      reasoning: reportedCount(output?.["reasoning_tokens"]),
    },
    NOTHING_HIDDEN,
  );
}
