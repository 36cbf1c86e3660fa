import type { Usd } from "@keelson/protocol";

/** The limits of a run with every default filled in. */
export interface Limits {
  readonly maxTurns: number;
  readonly maxModelCalls: number;
  readonly maxCost: Usd | undefined;
  readonly maxTokens: number | undefined;
  readonly unknownPrice: "refuse" | "allow";
  readonly withoutUsage: "reserve" | "estimate";
  readonly maxDurationMs: number | undefined;
  readonly maxToolCalls: number | undefined;
  readonly maxFailedTurns: number;
  readonly maxRetries: number;
  readonly maxRetryDelayMs: number;
  readonly maxRepairs: number;
  readonly maxAnswerBytes: number;
  readonly maxAnswerCalls: number;
  readonly toolTimeoutMs: number | undefined;
  readonly maxParallelCalls: number;
  readonly maxBackground: number;
}
