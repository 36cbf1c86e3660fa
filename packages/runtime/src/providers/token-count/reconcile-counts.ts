import type { Usage } from "@keelson/protocol";

/** The `maxOutput` of wires whose output counts everything that was generated: a rest of their totals is no output. */
export const NOTHING_HIDDEN = (): number => 0;

/** The counts of a report, each as its vendor names it. They need not agree about what holds what. */
export interface ReportedCounts {
  readonly prompt: number | null;
  readonly completion: number | null;
  readonly total: number | null;
  readonly cacheRead: number | null;
  readonly cacheWrite: number | null;
  readonly reasoning: number | null;
}

/**
 * Makes a usage of counts that may leave the cache out of the prompt (Bedrock's models behind gateways) or reasoning out of the
 * completion (xAI, Google). The total tells which: a rest that the cache counts explain is input, and any other is hidden reasoning if
 * the response can hold that much. A rest that nothing explains is left out.
 *
 * So input is at most the sum of the counts that are reported for it, and output at most the larger of what is reported for it and
 * `maxOutput`.
 */
export function reconcileCounts(counts: ReportedCounts, maxOutput: () => number): Usage {
  const { prompt, completion, total, cacheRead, cacheWrite, reasoning } = counts;
  const beside = prompt === null ? 0 : cacheBesidePrompt(prompt, counts);
  const input = prompt === null ? null : prompt + beside;
  const rest = input === null || total === null ? 0 : Math.max(0, total - input - (completion ?? 0));
  // Without a total, more reasoning than completion shows that it was left out.
  const thoughtBeside = total === null && completion !== null && reasoning !== null && reasoning > completion ? reasoning : 0;
  const hidden = rest > 0 ? rest : thoughtBeside;
  const fits = hidden > 0 && (completion ?? 0) + hidden <= maxOutput();
  return {
    inputTokens: input,
    outputTokens: fits ? (completion ?? 0) + hidden : completion,
    cacheReadTokens: cacheRead,
    cacheCreationTokens: cacheWrite,
    reasoningTokens: reasoning,
  };
}

/**
 * The cached tokens that the prompt leaves out: as many as the total says, and without a total all of them if the prompt is too small to
 * hold them. A total that is the plain sum confirms the prompt: recordings show gateways that report one cached token twice.
 */
function cacheBesidePrompt(prompt: number, { completion, total, cacheRead, cacheWrite, reasoning }: ReportedCounts): number {
  const [read, written] = [cacheRead ?? 0, cacheWrite ?? 0];
  const isTooSmall = Math.max(read, written) > prompt;
  if (total === null || completion === null) return isTooSmall ? read + written : 0;
  const rest = total - prompt - completion;
  const thought = reasoning ?? 0;
  if (rest <= 0 || rest === thought) return 0;
  if (isTooSmall && rest >= read + written) return read + written;
  for (const cached of [read + written, read, written]) if (cached > 0 && (rest === cached || rest === cached + thought)) return cached;
  return 0;
}
