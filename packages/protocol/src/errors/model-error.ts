import type { Usage } from "../usage.ts";
import { hasBrand, KeelsonError, type RecordedError, type SerializedError } from "./keelson-error.ts";

/**
 * How far a request came before it failed: nothing of it was sent; it was sent, and nobody knows what became of it; the vendor
 * refused it by its status (4xx, 5xx); a response began. What is unsent or refused is not billed.
 */
export type RequestProgress = "unsent" | "sent" | "refused" | "begun";

/** Why a model call failed. `status` is the HTTP status, `code` the vendor's own word, when there was one. */
export type ModelFailure = ModelFailureDetails &
  (
    | { readonly kind: "authentication" }
    | { readonly kind: "billing" }
    /** `retryAfterMs` when the vendor said how long to wait. */
    | { readonly kind: "rate-limit"; readonly retryAfterMs?: number }
    | { readonly kind: "server-error"; readonly retryAfterMs?: number }
    | { readonly kind: "invalid-request" }
    /** The vendor responded with something that is no response. */
    | { readonly kind: "invalid-response" }
    | { readonly kind: "max-output-tokens" }
    /** The request is longer than the model's window. `parts`: where nothing more can be left out, what is left, the largest first. */
    | { readonly kind: "context-overflow"; readonly parts?: readonly RequestPartSize[] }
    | { readonly kind: "content-blocked" }
    /** The caller's signal fired. */
    | { readonly kind: "cancelled" }
    | { readonly kind: "other" }
  );

/** A part of a request, in words, and about as many tokens as it comes to. */
export type RequestPartSize = { readonly part: string; readonly tokens: number };

type ModelFailureDetails = {
  readonly message: string;
  readonly provider?: string;
  readonly model?: string;
  readonly status?: number;
  readonly code?: string;
  readonly requestId?: string;
  /** Absent: a request with an error's `status` was refused, any other is taken for one that was sent. */
  readonly progress?: RequestProgress;
  /** What the vendor had counted for the whole response before it failed, as he will bill it. */
  readonly usage?: Usage;
};

export const MODEL_FAILURE_RETRYABLE: { readonly [K in ModelFailure["kind"]]: boolean } = {
  "authentication": false,
  "billing": false,
  "rate-limit": true,
  "server-error": true,
  "invalid-request": false,
  "invalid-response": false,
  "max-output-tokens": false,
  "context-overflow": false,
  "content-blocked": false,
  "cancelled": false,
  "other": false,
};

/** A model call failed. Retryable exactly for `rate-limit` and `server-error`. */
export class ModelError extends KeelsonError<ModelFailure> {
  override readonly "name" = "ModelError";
  readonly "~keelson" = "ModelError";

  get "retryable"(): boolean {
    return MODEL_FAILURE_RETRYABLE[this.failure.kind] ?? false;
  }

  static "is"<K extends ModelFailure["kind"]>(
    error: unknown,
    kind?: K,
  ): error is ModelError & { readonly failure: Extract<ModelFailure, { kind: K }> } {
    return hasBrand(error, "ModelError") && (kind === undefined || (error as ModelError).failure.kind === kind);
  }

  static "fromJSON"(data: SerializedError): RecordedError<ModelError> {
    return new ModelError(data.failure as ModelFailure, { cause: data.cause });
  }
}
