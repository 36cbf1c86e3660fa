import type { ReachedLimit } from "../reason.ts";
import { hasBrand, KeelsonError, type RecordedError, type SerializedError } from "./keelson-error.ts";

/** Why an operator gave no output. `retryable` lets an orchestrator decide without looking inside. */
export type OperatorFailure = { readonly message: string } & (
  | { readonly kind: "model" }
  | { readonly kind: "sub-dispatch"; readonly operator: string }
  | { readonly kind: "context-assembly" }
  | { readonly kind: "retryable"; readonly retryAfterMs?: number }
  /** Budget, safety, invalid input. */
  | { readonly kind: "non-retryable" }
  /** A rule or guard stopped the pipeline. `exit` names the limit's own ending where a limit was the reason. */
  | {
      readonly kind: "halted";
      readonly by: "rule" | "middleware" | "hook" | "plugin" | "strategy" | "limit";
      readonly reason: string;
      readonly exit?: "max-turns" | "budget-exhausted" | "timeout";
      readonly limit?: ReachedLimit;
    }
  | { readonly kind: "other" }
);

export const OPERATOR_FAILURE_RETRYABLE: { readonly [K in OperatorFailure["kind"]]: boolean } = {
  "model": false,
  "sub-dispatch": false,
  "context-assembly": false,
  "retryable": true,
  "non-retryable": false,
  "halted": false,
  "other": false,
};

export class OperatorError extends KeelsonError<OperatorFailure> {
  override readonly "name" = "OperatorError";
  readonly "~keelson" = "OperatorError";

  get "retryable"(): boolean {
    return OPERATOR_FAILURE_RETRYABLE[this.failure.kind] ?? false;
  }

  static "is"<K extends OperatorFailure["kind"]>(
    error: unknown,
    kind?: K,
  ): error is OperatorError & { readonly failure: Extract<OperatorFailure, { kind: K }> } {
    return hasBrand(error, "OperatorError") && (kind === undefined || (error as OperatorError).failure.kind === kind);
  }

  static "fromJSON"(data: SerializedError): RecordedError<OperatorError> {
    return new OperatorError(data.failure as OperatorFailure, { cause: data.cause });
  }
}
