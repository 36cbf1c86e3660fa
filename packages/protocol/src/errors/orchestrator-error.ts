import type { OperatorFailure } from "./operator-error.ts";
import { hasBrand, KeelsonError, type RecordedError, type SerializedError } from "./keelson-error.ts";

/** Why an orchestrator did not do what was asked. */
export type OrchestratorFailure = { readonly message: string } & (
  | { readonly kind: "operator-not-found"; readonly operator: string; readonly available: readonly string[] }
  | { readonly kind: "workflow-not-found"; readonly workflow: string }
  | { readonly kind: "dispatch-failed" }
  | { readonly kind: "signal-failed" }
  | { readonly kind: "operator-error"; readonly operator: OperatorFailure }
  | { readonly kind: "policy-denied"; readonly reason: string }
  | { readonly kind: "cancelled" }
  | { readonly kind: "other" }
);

export const ORCHESTRATOR_FAILURE_RETRYABLE: { readonly [K in OrchestratorFailure["kind"]]: boolean } = {
  "operator-not-found": false,
  "workflow-not-found": false,
  "dispatch-failed": false,
  "signal-failed": false,
  "operator-error": false,
  "policy-denied": false,
  "cancelled": false,
  "other": false,
};

export class OrchestratorError extends KeelsonError<OrchestratorFailure> {
  override readonly "name" = "OrchestratorError";
  readonly "~keelson" = "OrchestratorError";

  get "retryable"(): boolean {
    return ORCHESTRATOR_FAILURE_RETRYABLE[this.failure.kind] ?? false;
  }

  static "is"<K extends OrchestratorFailure["kind"]>(
    error: unknown,
    kind?: K,
  ): error is OrchestratorError & { readonly failure: Extract<OrchestratorFailure, { kind: K }> } {
    return hasBrand(error, "OrchestratorError") && (kind === undefined || (error as OrchestratorError).failure.kind === kind);
  }

  static "fromJSON"(data: SerializedError): RecordedError<OrchestratorError> {
    return new OrchestratorError(data.failure as OrchestratorFailure, { cause: data.cause });
  }
}
