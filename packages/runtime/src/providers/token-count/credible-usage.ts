import type { Usage } from "@keelson/protocol";
import { reportedCount } from "./reported-count.ts";

/**
 * Makes unknown what cannot be true of a usage, whichever provider reports it: counts that are none, and cached tokens that the input
 * cannot hold. Output beyond the limit of the request is believed, because the vendor bills what it reports.
 */
export function credibleUsage(usage: Usage): Usage {
  const input = reportedCount(usage.inputTokens);
  const [read, written] = [reportedCount(usage.cacheReadTokens), reportedCount(usage.cacheCreationTokens)];
  const holdsCache = input === null || (read ?? 0) + (written ?? 0) <= input;
  return {
    inputTokens: input,
    outputTokens: reportedCount(usage.outputTokens),
    cacheReadTokens: holdsCache ? read : null,
    cacheCreationTokens: holdsCache ? written : null,
    reasoningTokens: reportedCount(usage.reasoningTokens),
  };
}
