import type { Usage } from "@keelson/protocol";
import { reportedCount } from "./reported-count.ts";

/**
 * Makes unknown what is no count of tokens in a usage, whichever provider reports it. Output beyond the limit of the request, and more
 * cached tokens than input, are believed: a vendor bills what it reports, and a cost counts no more cached tokens than input.
 */
export function credibleUsage(usage: Usage): Usage {
  return {
    inputTokens: reportedCount(usage.inputTokens),
    outputTokens: reportedCount(usage.outputTokens),
    cacheReadTokens: reportedCount(usage.cacheReadTokens),
    cacheCreationTokens: reportedCount(usage.cacheCreationTokens),
    reasoningTokens: reportedCount(usage.reasoningTokens),
  };
}
