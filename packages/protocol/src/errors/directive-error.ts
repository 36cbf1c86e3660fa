import { hasBrand, KeelsonError, type RecordedError, type SerializedError } from "./keelson-error.ts";

/** Why a directive was not executed. */
export type DirectiveFailure = { readonly message: string } & (
  | { readonly kind: "execution-failed"; readonly directive: string }
  | { readonly kind: "unsupported"; readonly directive: string }
  | { readonly kind: "rejected"; readonly directive: string; readonly by: string }
  /** No codec is registered for this custom payload. */
  | { readonly kind: "unknown-payload"; readonly customType: string }
  | { readonly kind: "other" }
);

export const DIRECTIVE_FAILURE_RETRYABLE: { readonly [K in DirectiveFailure["kind"]]: boolean } = {
  "execution-failed": false,
  "unsupported": false,
  "rejected": false,
  "unknown-payload": false,
  "other": false,
};

export class DirectiveError extends KeelsonError<DirectiveFailure> {
  override readonly "name" = "DirectiveError";
  readonly "~keelson" = "DirectiveError";

  get "retryable"(): boolean {
    return DIRECTIVE_FAILURE_RETRYABLE[this.failure.kind] ?? false;
  }

  static "is"<K extends DirectiveFailure["kind"]>(
    error: unknown,
    kind?: K,
  ): error is DirectiveError & { readonly failure: Extract<DirectiveFailure, { kind: K }> } {
    return hasBrand(error, "DirectiveError") && (kind === undefined || (error as DirectiveError).failure.kind === kind);
  }

  static "fromJSON"(data: SerializedError): RecordedError<DirectiveError> {
    return new DirectiveError(data.failure as DirectiveFailure, { cause: data.cause });
  }
}
