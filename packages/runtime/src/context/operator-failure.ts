import type { OperatorFailure, StepFailure } from "@keelson/protocol";

/** A failed step as the failure of the operator that made it: an orchestrator only learns whether to try again. */
export function operatorFailureOf(failure: StepFailure): OperatorFailure {
  if (!failure.retryable) return { kind: "model", message: failure.message };
  return { kind: "retryable", message: failure.message, ...(failure.retryAfterMs !== undefined && { retryAfterMs: failure.retryAfterMs }) };
}
