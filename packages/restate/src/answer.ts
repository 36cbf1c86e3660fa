import { errorFromJSON, KeelsonError, toOrchestratorError, type JsonValue, type SerializedError } from "@keelson/protocol";

/**
 * What a handler gives back. A refusal is a value, so that its kind and its fields reach the caller: of an error that a handler
 * throws, Restate passes on a number and a text.
 */
export type Answer<T extends JsonValue> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: SerializedError };

export function granted<T extends JsonValue>(value: T): Answer<T> {
  return { ok: true, value };
}

export function refused(error: unknown): { readonly ok: false; readonly error: SerializedError } {
  return { ok: false, error: (error instanceof KeelsonError ? error : toOrchestratorError(error)).toJSON() };
}

/** @throws the error that the handler refused with */
export function valueOf<T extends JsonValue>(answer: Answer<T>): T {
  if (answer.ok) return answer.value;
  throw errorFromJSON(answer.error);
}
