import { addUsd, type Usd } from "./usd.ts";

/**
 * Tokens of one model response, or a sum of them. `null`: the vendor did not say (unknown, never zero).
 * `inputTokens` counts cached tokens, `outputTokens` counts reasoning tokens; vendors that differ are converted.
 */
export type Usage = {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cacheReadTokens: number | null;
  readonly cacheCreationTokens: number | null;
  readonly reasoningTokens: number | null;
};

export const UNKNOWN_USAGE: Usage = {
  inputTokens: null,
  outputTokens: null,
  cacheReadTokens: null,
  cacheCreationTokens: null,
  reasoningTokens: null,
};

/** Model calls of which the vendor told no usage, or not all of it. */
export type EstimatedCalls = {
  readonly modelCalls: number;
  /** What they were counted as; it is part of the cost. `null` when a part of it has no known price. */
  readonly cost: Usd | null;
  /** `reserve`: as all that they could have come to. `estimate`: some as what was sent and seen of them, so that limits may have been passed. */
  readonly withoutUsage: "reserve" | "estimate";
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

/** Sums what was estimated, where something was. */
export function addEstimated(a: EstimatedCalls | undefined, b: EstimatedCalls | undefined): EstimatedCalls | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return {
    modelCalls: a.modelCalls + b.modelCalls,
    cost: a.cost === null || b.cost === null ? null : addUsd(a.cost, b.cost),
    withoutUsage: a.withoutUsage === "reserve" ? b.withoutUsage : a.withoutUsage,
  };
}

function add(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : a + b;
}
