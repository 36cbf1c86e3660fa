import { UNKNOWN_USAGE, type Usage } from "@keelson/protocol";
import { maxOutputOf } from "../token-count/max-output.ts";
import { reconcileCounts } from "../token-count/reconcile-counts.ts";
import { reportedCount } from "../token-count/reported-count.ts";
import type { DecoderContext, Fields } from "../wire-decoder.ts";
import type { GeminiCounts } from "./gemini-wire.ts";

/**
 * Gathers the counts of one response. Every chunk of a stream repeats them, cumulated and not always all; the last one wins,
 * field by field. Google's format leaves zeros out, so that a count missing beside others is 0; its output leaves thoughts out,
 * and its prompt what tools run by the server put into it. Some models leave thoughts out of every count but the total. No prompt has 0
 * tokens, so that a missing prompt is unknown, and with it the output if nothing else counts that.
 */
export class GeminiUsage {
  readonly #context: DecoderContext;
  /** `null`: what was reported is no count. */
  readonly #counts = new Map<string, number | null>();

  constructor(context: DecoderContext) {
    this.#context = context;
  }

  merge(usage: GeminiCounts | undefined): void {
    if (usage === undefined) return;
    for (const name of NAMES) {
      const value = usage[name] ?? (usage as Fields)[COUNTED[name]] ?? undefined;
      if (value === undefined) continue;
      const count = reportedCount(value);
      if (count !== null || !this.#counts.has(name)) this.#counts.set(name, count);
    }
  }

  read(): Usage {
    const counts = this.#counts;
    if (counts.size === 0) return UNKNOWN_USAGE;
    const total = counts.get("totalTokenCount") ?? null;
    const hasPrompt = counts.has("promptTokenCount");
    const hasCompletion = hasPrompt || counts.has("candidatesTokenCount") || counts.has("thoughtsTokenCount");
    const prompt = hasPrompt ? this.#sum("promptTokenCount", "toolUsePromptTokenCount") : null;
    const completion = hasCompletion ? this.#sum("candidatesTokenCount", "thoughtsTokenCount") : null;
    return reconcileCounts(
      {
        prompt,
        completion,
        // Counts of prompt and output stand in for a total that is missing.
        total: total ?? (prompt === null || completion === null ? null : prompt + completion),
        cacheRead: counts.get("cachedContentTokenCount") ?? null,
        cacheWrite: null,
        reasoning: counts.get("thoughtsTokenCount") ?? null,
      },
      () => maxOutputOf(this.#context),
    );
  }

  #sum(...names: readonly (keyof typeof COUNTED)[]): number | null {
    let sum = 0;
    for (const name of names) {
      const count = this.#counts.get(name);
      if (count === null) return null;
      sum += count ?? 0;
    }
    return sum;
  }
}

/** The counts, with their names in the spelling of gateways that are written in Python. */
const COUNTED = {
  promptTokenCount: "prompt_token_count",
  toolUsePromptTokenCount: "tool_use_prompt_token_count",
  candidatesTokenCount: "candidates_token_count",
  thoughtsTokenCount: "thoughts_token_count",
  cachedContentTokenCount: "cached_content_token_count",
  totalTokenCount: "total_token_count",
} as const;
const NAMES = Object.keys(COUNTED) as readonly (keyof typeof COUNTED)[];
