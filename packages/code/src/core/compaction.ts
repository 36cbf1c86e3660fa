import type { CompactionOptions } from "keelson/agent";
import { resultsFirst, summarise } from "keelson/context";
import type { ModelRegistry } from "keelson/providers";
import { contextWindowOf } from "./context-window.ts";

/**
 * The part of the context window from which the conversation is shortened. Each later turn pays for what is in the window, and a batch of reads
 * needs a fifth of what is left.
 */
const COMPACT_AT = 0.4;

/** The tokens from which it is shortened in any case: two fifths of a million tokens cost too much each turn, and some windows are unknown. */
const COMPACT_AT_TOKENS = 150_000;

/** The context management of the coding agent: old results of tools first, because most of them can be read again; then a summary of what is old. */
export const COMPACTION: CompactionOptions = {
  strategy: resultsFirst(summarise({ keep: 6 })),
  when: { maxContextUtilization: COMPACT_AT, maxTokens: COMPACT_AT_TOKENS },
};

/** Returns the part of the context window of a model from which its conversation is shortened. */
export function compactedAt(models: Pick<ModelRegistry, "resolve">, model: string): number {
  return Math.min(COMPACT_AT, COMPACT_AT_TOKENS / (contextWindowOf(models, model) ?? COMPACT_AT_TOKENS));
}
