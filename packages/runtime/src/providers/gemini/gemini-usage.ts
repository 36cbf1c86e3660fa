import { UNKNOWN_USAGE, type Usage } from "@keelson/protocol";
import { maxOutputOf } from "../token-count/max-output.ts";
import { reconcileCounts } from "../token-count/reconcile-counts.ts";
import { reportedCount } from "../token-count/reported-count.ts";
import type { DecoderContext } from "../wire-decoder.ts";
import type { GeminiCounts } from "./gemini-wire.ts";

/**
 * Gathers the counts of one response. Every chunk of a stream repeats them, cumulated and not always all; the last one wins,
 * field by field. Google's format leaves zeros out, so that a count missing beside others is 0; its output leaves thoughts out,
 * and its prompt what tools run by the server put into it. Some models leave thoughts out of every count but the total.
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
    for (const name of COUNTED) {
      if (usage[name] === undefined || usage[name] === null) continue;
      const count = reportedCount(usage[name]);
      if (count !== null || !this.#counts.has(name)) this.#counts.set(name, count);
    }
  }

  read(): Usage {
    const counts = this.#counts;
    if (counts.size === 0) return UNKNOWN_USAGE;
    const total = counts.get("totalTokenCount") ?? null;
    const prompt = this.#sum("promptTokenCount", "toolUsePromptTokenCount");
    const completion = this.#sum("candidatesTokenCount", "thoughtsTokenCount");
    return reconcileCounts(
      {
        prompt,
        completion,
        // Without a total, the counts of the output in the report are enough.
        total: total ?? (prompt === null || completion === null ? null : prompt + completion),
        cacheRead: counts.get("cachedContentTokenCount") ?? null,
        cacheWrite: null,
        reasoning: counts.get("thoughtsTokenCount") ?? null,
      },
      () => maxOutputOf(this.#context),
    );
  }

  #sum(...names: readonly (typeof COUNTED)[number][]): number | null {
    let sum = 0;
    for (const name of names) {
      const count = this.#counts.get(name);
      if (count === null) return null;
      sum += count ?? 0;
    }
    return sum;
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
