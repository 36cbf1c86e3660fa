/**
 * Tokens of one model response, or a sum of them. `null`: the vendor did not say (unknown, never zero).
 * `inputTokens` counts cached tokens, `outputTokens` counts reasoning tokens; vendors that differ are converted.
 */
export interface Usage {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cacheReadTokens: number | null;
  readonly cacheCreationTokens: number | null;
  readonly reasoningTokens: number | null;
}

export const UNKNOWN_USAGE: Usage = {
  inputTokens: null,
  outputTokens: null,
  cacheReadTokens: null,
  cacheCreationTokens: null,
  reasoningTokens: null,
};

/** Sums two usages. What only one side knows is taken from it. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: add(a.inputTokens, b.inputTokens),
    outputTokens: add(a.outputTokens, b.outputTokens),
    cacheReadTokens: add(a.cacheReadTokens, b.cacheReadTokens),
    cacheCreationTokens: add(a.cacheCreationTokens, b.cacheCreationTokens),
    reasoningTokens: add(a.reasoningTokens, b.reasoningTokens),
  };
}

function add(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : a + b;
}
