import { hasBrand, KeelsonError, type RecordedError, type SerializedError } from "./keelson-error.ts";

/** Why data from outside was not accepted. */
export type DecodeFailure = { readonly message: string } &
  /** `path` leads to the value, as in `message.content[2].text`; it is empty for the whole. */
  (
    | { readonly kind: "invalid-data"; readonly path: string }
    /** Written by a later version of Keelson than this one. */
    | { readonly kind: "unsupported-version"; readonly payload: string; readonly version: number; readonly supported: number }
    | { readonly kind: "other" }
  );

export const DECODE_FAILURE_RETRYABLE: { readonly [K in DecodeFailure["kind"]]: boolean } = {
  "invalid-data": false,
  "unsupported-version": false,
  "other": false,
};

/** Data from outside is not what it must be. Layers that store or carry it wrap this in an error of their own boundary. */
export class DecodeError extends KeelsonError<DecodeFailure> {
  override readonly "name" = "DecodeError";
  readonly "~keelson" = "DecodeError";

  get "retryable"(): boolean {
    return DECODE_FAILURE_RETRYABLE[this.failure.kind] ?? false;
  }

  static "is"<K extends DecodeFailure["kind"]>(
    error: unknown,
    kind?: K,
  ): error is DecodeError & { readonly failure: Extract<DecodeFailure, { kind: K }> } {
    return hasBrand(error, "DecodeError") && (kind === undefined || (error as DecodeError).failure.kind === kind);
  }

  static "fromJSON"(data: SerializedError): RecordedError<DecodeError> {
    return new DecodeError(data.failure as DecodeFailure, { cause: data.cause });
  }
}
