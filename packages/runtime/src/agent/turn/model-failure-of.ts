import type { ModelFailure } from "@keelson/protocol";
import type { Model } from "../definition/model-source.ts";

/** What a model call failed with, as a failure of its model. */
export function modelFailureOf(failure: { readonly kind: string; readonly message: string }, model: Model): ModelFailure {
  if (KNOWN_KINDS.has(failure.kind)) {
    const { retryable: _derived, ...known } = failure as typeof failure & { readonly retryable?: boolean };
    return known as ModelFailure;
  }
  return { kind: "other", message: failure.message, provider: model.provider.name, model: model.id };
}
const KNOWN_KINDS: ReadonlySet<string> = new Set<ModelFailure["kind"]>([
  "authentication",
  "billing",
  "rate-limit",
  "server-error",
  "invalid-request",
  "invalid-response",
  "max-output-tokens",
  "context-overflow",
  "content-blocked",
  "cancelled",
  "other",
]);
