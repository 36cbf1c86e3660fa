import type { Failure, KeelsonError, StepFailure } from "@keelson/protocol";

/** A thrown value as data. Errors of Keelson keep their kind; what else was thrown is `other` and not retryable. */
export function stepFailureOf(error: unknown): StepFailure {
  if (error instanceof Error && "failure" in error) {
    const known = error as KeelsonError;
    const failure = known.failure as Failure & { readonly retryAfterMs?: number };
    return { ...failure, retryable: known.retryable };
  }
  return { kind: "other", message: error instanceof Error ? error.message : String(error), retryable: false };
}
