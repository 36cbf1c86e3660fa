import { UNKNOWN_USAGE, type Usage } from "@keelson/protocol";
import { NOTHING_HIDDEN, reconcileCounts } from "../token-count/reconcile-counts.ts";
import { reportedCount } from "../token-count/reported-count.ts";
import { type Fields, fieldsOf } from "../wire-decoder.ts";

/**
 * Reads the counts of an AI SDK model. Versions 3 and 4 nest them, and their totals hold everything; version 2 has them flat, and some
 * of its adapters (Anthropic, Bedrock) leave the cache out of the input.
 */
export function aiSdkUsage(usage: Fields | undefined): Usage {
  if (usage === undefined) return UNKNOWN_USAGE;
  const input = fieldsOf(usage["inputTokens"]);
  const output = fieldsOf(usage["outputTokens"]);
  const prompt = reportedCount(input === undefined ? usage["inputTokens"] : input["total"]);
  const completion = reportedCount(output === undefined ? usage["outputTokens"] : output["total"]);
  const total = reportedCount(usage["totalTokens"]);
  return reconcileCounts(
    {
      prompt,
      completion,
      // A plain sum is the adapter's own, and confirms nothing.
      total: total === (prompt ?? 0) + (completion ?? 0) ? null : total,
      cacheRead: reportedCount(input === undefined ? usage["cachedInputTokens"] : input["cacheRead"]),
      cacheWrite: reportedCount(input?.["cacheWrite"]),
      reasoning: reportedCount(output === undefined ? usage["reasoningTokens"] : output["reasoning"]),
    },
    NOTHING_HIDDEN,
  );
}
