import { MODEL_FAILURE_RETRYABLE, ModelError, type ModelFailure } from "@keelson/protocol";
import { neverConnected } from "../../transport/index.ts";
import { failureInResponse, failureOfStatus, type FailureContext, readVendorError } from "../vendor-failure.ts";
import { WithheldKeys } from "../withheld-keys.ts";
import { type Fields, fieldsOf, stringOf } from "../wire-decoder.ts";

/** The AI SDK's errors by their names, which hold across copies of its packages. */
const KINDS: { readonly [name: string]: ModelFailure["kind"] } = {
  AI_LoadAPIKeyError: "authentication",
  AI_LoadSettingError: "invalid-request",
  AI_InvalidArgumentError: "invalid-request",
  AI_InvalidPromptError: "invalid-request",
  AI_NoSuchModelError: "invalid-request",
  AI_UnsupportedFunctionalityError: "invalid-request",
  AI_TooManyEmbeddingValuesForCallError: "invalid-request",
  AI_EmptyResponseBodyError: "invalid-response",
  AI_InvalidResponseDataError: "invalid-response",
  AI_JSONParseError: "invalid-response",
  AI_NoContentGeneratedError: "invalid-response",
  AI_TypeValidationError: "invalid-response",
};

/** Its key is nobody's here: only what has the shape of one can be kept out. */
const keys = new WithheldKeys();

/** What a model threw, or streamed as an error, as ours, without keys. */
export function aiSdkFailure(thrown: unknown, context: FailureContext, signal: AbortSignal | undefined): ModelError {
  return keys.redacted(failureOf(thrown, context, signal)) as ModelError;
}

function failureOf(thrown: unknown, context: FailureContext, signal: AbortSignal | undefined): ModelError {
  if (ModelError.is(thrown)) return thrown;
  if (signal?.aborted === true)
    return new ModelError({ kind: "cancelled", message: "the model call was cancelled", ...context }, { cause: thrown });
  const error = fieldsOf(thrown);
  const name = stringOf(error?.["name"]);
  const known = KINDS[name];
  // What the adapter finds wrong with the request it does not send.
  const unsent = known === "invalid-request" || known === "authentication" || neverConnected(thrown);
  const progress = unsent ? { progress: "unsent" as const } : {};
  if (known !== undefined)
    return new ModelError(
      { kind: known, message: `${messageOf(thrown)} (${context.provider})`, ...progress, ...context },
      { cause: thrown },
    );
  if (error !== undefined && (typeof error["statusCode"] === "number" || name === "AI_APICallError"))
    return apiCallFailure(error, context, progress);
  // A mistake in the model's own code: it would make it again.
  if (isMistake(thrown))
    return new ModelError({ kind: "other", message: `${messageOf(thrown)} (${context.provider})`, ...context }, { cause: thrown });
  // An error of the vendor as it came in the stream.
  if (!(thrown instanceof Error) && thrown !== undefined && thrown !== null)
    return failureInResponse(readVendorError(typeof thrown === "object" ? thrown : String(thrown)), context, undefined);
  const message = `${messageOf(thrown)} (${context.provider})`;
  return new ModelError({ kind: "server-error", message, ...progress, ...context }, { cause: thrown });
}

/** `fetch` throws a TypeError as well, with the reason as its cause. */
function isMistake(thrown: unknown): boolean {
  return (thrown instanceof TypeError || thrown instanceof ReferenceError || thrown instanceof RangeError) && thrown.cause === undefined;
}

function apiCallFailure(error: Fields, context: FailureContext, progress: { readonly progress?: "unsent" }): ModelError {
  const status = error["statusCode"];
  const told = messageOf(error);
  const { isRetryable } = error;
  if (typeof status !== "number" || status < 400) {
    // No response, or one that was good and could not be read.
    const kind = isRetryable === true ? "server-error" : typeof status === "number" ? "invalid-response" : "other";
    return new ModelError({ kind, message: `${told} (${context.provider})`, ...progress, ...context }, { cause: error });
  }
  const headers = fieldsOf(error["responseHeaders"]) ?? {};
  const header = (name: string): string | undefined => (typeof headers[name] === "string" ? headers[name] : undefined);
  const body = stringOf(error["responseBody"]);
  const { failure } = failureOfStatus(status, { header }, body === "" ? told : body, context);
  const kind = kindByRetryability(failure.kind, isRetryable);
  return new ModelError({ ...failure, kind } as ModelFailure, { cause: error });
}

/** The model knows its vendor: what it calls worth a retry is one, and what it calls hopeless is none. */
function kindByRetryability(kind: ModelFailure["kind"], isRetryable: unknown): ModelFailure["kind"] {
  if (isRetryable === true && kind === "invalid-request") return "server-error";
  return isRetryable === false && MODEL_FAILURE_RETRYABLE[kind] ? "other" : kind;
}

function messageOf(thrown: unknown): string {
  const message = stringOf(fieldsOf(thrown)?.["message"]);
  return message === "" ? String(thrown) : message;
}
