import type { CompactionOptions } from "keelson/agent";
import { resultsFirst, summarise } from "keelson/context";

/**
 * The part of the context window from which the conversation is shortened. A request costs what stands in the window, and later turns pay it again: at
 * a half, a turn costs at most half of what the model allows, and a batch of large results still fits behind it.
 */
export const COMPACT_AT = 0.5;

/** The tokens from which it is shortened in any case: windows of a million tokens are too dear to fill by half, and nothing is known of some. */
const COMPACT_AT_TOKENS = 150_000;

/** The context management of the coding agent: old results of tools first, because most of them can be had again; then a summary of what is old. */
export const COMPACTION: CompactionOptions = {
  strategy: resultsFirst(summarise({ keep: 6 })),
  when: { maxContextUtilization: COMPACT_AT, maxTokens: COMPACT_AT_TOKENS },
};
