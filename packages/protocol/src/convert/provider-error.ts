import type { ModelFailure } from "../errors/model-error.ts";

/** The words of the layered runtimes for a failed model call. */
export type ProviderErrorKind = "transient-error" | "rate-limited" | "content-blocked" | "auth-failed" | "invalid-response" | "other";

export interface ProviderFailure {
  readonly kind: ProviderErrorKind;
  readonly message: string;
  readonly status?: number;
}

/** Only the first five pairs mean the same; what has no word there is `other`, and an invalid request is no invalid response. */
const PROVIDER_KINDS: { readonly [K in ModelFailure["kind"]]: ProviderErrorKind } = {
  "server-error": "transient-error",
  "rate-limit": "rate-limited",
  "content-blocked": "content-blocked",
  "authentication": "auth-failed",
  "invalid-response": "invalid-response",
  "billing": "other",
  "invalid-request": "other",
  "max-output-tokens": "other",
  "context-overflow": "other",
  "cancelled": "other",
  "other": "other",
};

const MODEL_KINDS: { readonly [K in ProviderErrorKind]: ModelFailure["kind"] } = {
  "transient-error": "server-error",
  "rate-limited": "rate-limit",
  "content-blocked": "content-blocked",
  "auth-failed": "authentication",
  "invalid-response": "invalid-response",
  "other": "other",
};

export const PROVIDER_ERROR_RETRYABLE: { readonly [K in ProviderErrorKind]: boolean } = {
  "transient-error": true,
  "rate-limited": true,
  "content-blocked": false,
  "auth-failed": false,
  "invalid-response": false,
  "other": false,
};

export function toProviderFailure({ kind, message, status }: ModelFailure): ProviderFailure {
  return { kind: Object.hasOwn(PROVIDER_KINDS, kind) ? PROVIDER_KINDS[kind] : "other", message, ...(status !== undefined && { status }) };
}

export function fromProviderFailure({ kind, message, status }: ProviderFailure): ModelFailure {
  return { kind: Object.hasOwn(MODEL_KINDS, kind) ? MODEL_KINDS[kind] : "other", message, ...(status !== undefined && { status }) };
}
