import type { OperatorFailure } from "./operator-error.ts";
import { hasBrand, KeelsonError, type RecordedError, type SerializedError } from "./keelson-error.ts";

/** Why an environment or executor did not run what it was given. */
export type EnvironmentFailure = { readonly message: string } & (
  | { readonly kind: "provision-failed" }
  | { readonly kind: "isolation-violation" }
  | { readonly kind: "credential-failed"; readonly credential: string }
  | { readonly kind: "resource-exceeded"; readonly resource: string }
  | { readonly kind: "timeout"; readonly timeoutMs: number }
  | { readonly kind: "cancelled" }
  | { readonly kind: "operator-error"; readonly operator: OperatorFailure }
  | { readonly kind: "unsupported" }
  | { readonly kind: "other" }
);

export const ENVIRONMENT_FAILURE_RETRYABLE: { readonly [K in EnvironmentFailure["kind"]]: boolean } = {
  "provision-failed": false,
  "isolation-violation": false,
  "credential-failed": false,
  "resource-exceeded": false,
  "timeout": false,
  "cancelled": false,
  "operator-error": false,
  "unsupported": false,
  "other": false,
};

export class EnvironmentError extends KeelsonError<EnvironmentFailure> {
  override readonly "name" = "EnvironmentError";
  readonly "~keelson" = "EnvironmentError";

  get "retryable"(): boolean {
    return ENVIRONMENT_FAILURE_RETRYABLE[this.failure.kind] ?? false;
  }

  static "is"<K extends EnvironmentFailure["kind"]>(
    error: unknown,
    kind?: K,
  ): error is EnvironmentError & { readonly failure: Extract<EnvironmentFailure, { kind: K }> } {
    return hasBrand(error, "EnvironmentError") && (kind === undefined || (error as EnvironmentError).failure.kind === kind);
  }

  static "fromJSON"(data: SerializedError): RecordedError<EnvironmentError> {
    return new EnvironmentError(data.failure as EnvironmentFailure, { cause: data.cause });
  }
}
