import type { JsonValue } from "../json.ts";

/** The plain data of an error: it goes into logs, events and over the wire unchanged. */
export type Failure = {
  readonly kind: string;
  readonly message: string;
};

/** A failure of a kind that this version doesn't know: a later one wrote it. */
export type LaterFailure = Failure & {
  /** At run time the word that the later version uses. This one stands for all of them, so that a `switch` can tell them from those it knows. */
  readonly kind: "~later";
};

/**
 * A failure that was read from a log or came from another process: of one of the kinds of `F`, or of one that a later version added.
 * A `switch` over its kinds that forgets those does not compile.
 */
export type RecordedFailure<F extends Failure = Failure> = F | LaterFailure;

/** An error that was read from a log or came from another process. */
export type RecordedError<E extends KeelsonError = KeelsonError> = Omit<E, "failure"> & { readonly failure: RecordedFailure<E["failure"]> };

export type SerializedError = {
  readonly v: 1;
  readonly error: string;
  readonly failure: JsonValue;
  readonly retryable: boolean;
  readonly cause?: string;
};

/**
 * The base of one error class per boundary. `failure` is for programs, `message` for people, `cause` for debugging;
 * `retryable` follows from the kind alone. Told apart by the brand `"~keelson"`, which also works across duplicate copies
 * of this package, where `instanceof` does not.
 */
export abstract class KeelsonError<F extends Failure = Failure> extends Error {
  abstract readonly "~keelson": string;
  readonly "failure": F;

  "constructor"(failure: F, options?: { readonly cause?: unknown }) {
    super(failure.message, options);
    this.failure = failure;
  }

  abstract get "retryable"(): boolean;

  "toJSON"(): SerializedError {
    return {
      v: 1,
      error: this["~keelson"],
      failure: this.failure,
      retryable: this.retryable,
      ...(this.cause !== undefined && { cause: describeCause(this.cause) }),
    };
  }
}

/** True when `error` is a Keelson error of this brand, whichever copy of the package made it. */
export function hasBrand(error: unknown, brand: string): boolean {
  return error instanceof Error && (error as { "~keelson"?: unknown })["~keelson"] === brand;
}

export function describeCause(cause: unknown): string {
  if (!(cause instanceof Error)) return typeof cause === "string" ? cause : String(cause);
  const code = (cause as { code?: unknown }).code;
  return typeof code === "string" && !cause.message.includes(code) ? `${cause.message} (${code})` : cause.message;
}
