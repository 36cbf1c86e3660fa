import { hasBrand, KeelsonError, type RecordedError, type SerializedError } from "./keelson-error.ts";

/** Why a state store did not do what was asked. A missing key is no error of `read`. */
export type StateFailure = { readonly message: string } & (
  | { readonly kind: "not-found"; readonly scope: string; readonly key: string }
  | { readonly kind: "conflict"; readonly key: string; readonly actualVersion: number }
  | { readonly kind: "write-failed" }
  | { readonly kind: "serialization" }
  | { readonly kind: "unavailable" }
  /** The stored data does not decode. It was left as it is. */
  | { readonly kind: "corrupt" }
  /** No space left where the store lives; what was there stayed. */
  | { readonly kind: "full" }
  | { readonly kind: "closed" }
  | { readonly kind: "invalid-input" }
  | { readonly kind: "other" }
);

export const STATE_FAILURE_RETRYABLE: { readonly [K in StateFailure["kind"]]: boolean } = {
  "not-found": false,
  "conflict": false,
  "write-failed": true,
  "serialization": false,
  "unavailable": true,
  "corrupt": false,
  "full": false,
  "closed": false,
  "invalid-input": false,
  "other": false,
};

export class StateError extends KeelsonError<StateFailure> {
  override readonly "name" = "StateError";
  readonly "~keelson" = "StateError";

  get "retryable"(): boolean {
    return STATE_FAILURE_RETRYABLE[this.failure.kind] ?? false;
  }

  static "is"<K extends StateFailure["kind"]>(
    error: unknown,
    kind?: K,
  ): error is StateError & { readonly failure: Extract<StateFailure, { kind: K }> } {
    return hasBrand(error, "StateError") && (kind === undefined || (error as StateError).failure.kind === kind);
  }

  static "fromJSON"(data: SerializedError): RecordedError<StateError> {
    return new StateError(data.failure as StateFailure, { cause: data.cause });
  }
}
