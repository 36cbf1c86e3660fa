import { hasBrand, KeelsonError, type RecordedError, type SerializedError } from "./keelson-error.ts";

/** Why an event log, blob store or ledger did not do what was asked. */
export type LogFailure = { readonly message: string } &
  /** Another writer was faster, or a key is taken by other data. */
  (
    | { readonly kind: "conflict"; readonly log: string; readonly expectedSeq: number | "any"; readonly actualSeq: number }
    /** A newer lease fenced this writer off. */
    | { readonly kind: "stale-epoch"; readonly log: string; readonly epoch: number; readonly currentEpoch: number }
    | { readonly kind: "lease-held"; readonly log: string; readonly owner: string; readonly expiresAt: number }
    | { readonly kind: "not-found"; readonly log: string }
    /** The stored data does not decode. What stands before it is intact. */
    | { readonly kind: "corrupt"; readonly log: string; readonly seq?: number }
    /** No space left where the log lives; nothing of the failed append is kept. */
    | { readonly kind: "full" }
    | { readonly kind: "too-large"; readonly limitBytes: number; readonly actualBytes: number }
    | { readonly kind: "unavailable" }
    | { readonly kind: "closed" }
    | { readonly kind: "invalid-input" }
    | { readonly kind: "other" }
  );

export const LOG_FAILURE_RETRYABLE: { readonly [K in LogFailure["kind"]]: boolean } = {
  "conflict": false,
  "stale-epoch": false,
  "lease-held": true,
  "not-found": false,
  "corrupt": false,
  "full": false,
  "too-large": false,
  "unavailable": true,
  "closed": false,
  "invalid-input": false,
  "other": false,
};

export class LogError extends KeelsonError<LogFailure> {
  override readonly "name" = "LogError";
  readonly "~keelson" = "LogError";

  get "retryable"(): boolean {
    return LOG_FAILURE_RETRYABLE[this.failure.kind] ?? false;
  }

  static "is"<K extends LogFailure["kind"]>(
    error: unknown,
    kind?: K,
  ): error is LogError & { readonly failure: Extract<LogFailure, { kind: K }> } {
    return hasBrand(error, "LogError") && (kind === undefined || (error as LogError).failure.kind === kind);
  }

  static "fromJSON"(data: SerializedError): RecordedError<LogError> {
    return new LogError(data.failure as LogFailure, { cause: data.cause });
  }
}
