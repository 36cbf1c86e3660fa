import { UNKNOWN_USAGE, type Usage } from "@keelson/protocol";
import { countOf } from "../wire-decoder.ts";
import type { GeminiCounts } from "./gemini-wire.ts";

/**
 * Gathers the counts of one response. Every chunk of a stream repeats them, cumulated and not always all; the last one wins,
 * field by field. Google's format leaves zeros out, so that a count missing beside others is 0; its output leaves thoughts out,
 * and its prompt what tools run by the server put into it.
 */
export class GeminiUsage {
  readonly #counts = new Map<string, number>();

  merge(usage: GeminiCounts | undefined): void {
    if (usage === undefined) return;
    for (const name of COUNTED) {
      const count = countOf(usage[name]);
      if (count !== null) this.#counts.set(name, count);
    }
  }

  read(): Usage {
    const counts = this.#counts;
    if (counts.size === 0) return UNKNOWN_USAGE;
    return {
      inputTokens: (counts.get("promptTokenCount") ?? 0) + (counts.get("toolUsePromptTokenCount") ?? 0),
      outputTokens: (counts.get("candidatesTokenCount") ?? 0) + (counts.get("thoughtsTokenCount") ?? 0),
      cacheReadTokens: counts.get("cachedContentTokenCount") ?? null,
      cacheCreationTokens: null,
      reasoningTokens: counts.get("thoughtsTokenCount") ?? null,
    };
  }
}

const COUNTED = [
  "promptTokenCount",
  "toolUsePromptTokenCount",
  "candidatesTokenCount",
  "thoughtsTokenCount",
  "cachedContentTokenCount",
  "totalTokenCount",
] as const;
