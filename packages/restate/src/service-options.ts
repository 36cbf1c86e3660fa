import type { ObjectOptions, ServiceOptions } from "@restatedev/restate-sdk";

/** The names under which Restate knows a worker's handlers. */
export interface ServiceNames {
  /** Starts, attaches, cancels and so on. */
  readonly service: string;
  /** One object a session. */
  readonly sessions: string;
}

/** @param name tells apart applications on one server of Restate */
export function serviceNames(name: string): ServiceNames {
  return { service: name, sessions: `${name}-session` };
}

export const DEFAULT_NAME = "keelson";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** A worker that is gone is found again soon: by default an attempt would come up to a minute after the one before. */
const RETRIES = { initialInterval: 100, exponentiationFactor: 2, maxInterval: 5 * SECOND, maxAttempts: 50 } as const;

/** How long Restate keeps what its own tools show of finished invocations. The log of events needs none of it. */
export const DEFAULT_JOURNAL_RETENTION_MS: number = HOUR;

/** Far longer than turns take: what is cut off as stalled is worked again. */
export const DEFAULT_TURN_TIMEOUT_MS: number = HOUR;

export function sessionOptions(journalRetentionMs: number, turnTimeoutMs: number): ObjectOptions {
  return {
    // What waits lets go of its connection soon; a turn is not ended for being silent.
    inactivityTimeout: 2 * SECOND,
    abortTimeout: turnTimeoutMs,
    journalRetention: journalRetentionMs,
    // A timer is told apart from the one before it only while that is about to fire.
    idempotencyRetention: MINUTE,
    // What fails fifty times needs a person: it is mended, and the invocation resumed.
    retryPolicy: { ...RETRIES, onMaxAttempts: "pause" },
  };
}

export function orchestratorOptions(journalRetentionMs: number): ServiceOptions {
  return {
    inactivityTimeout: 2 * SECOND,
    abortTimeout: HOUR,
    journalRetention: journalRetentionMs,
    // Callers repeat a request for less than that.
    idempotencyRetention: 10 * MINUTE,
    // Somebody waits for the answer.
    retryPolicy: { ...RETRIES, onMaxAttempts: "kill" },
  };
}
