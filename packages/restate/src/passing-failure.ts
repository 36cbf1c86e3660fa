import { AgentError, LogError, OrchestratorError } from "@keelson/protocol";

/** Restate, or the process that is to do the work, did not say what became of a request: it may be sent again. */
export class UnreachableError extends OrchestratorError {
  constructor(message: string, cause?: unknown) {
    super({ kind: "operator-error", operator: { kind: "retryable", message }, message }, { cause });
  }
}

/**
 * Whether something failed that may be well a moment later: the log or Restate can't be reached, or another process has the session. A
 * run that ended in an error is none of these, whatever the error: it has ended.
 */
export function isPassing(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (AgentError.is(cause, "detached") || cause instanceof UnreachableError) return true;
    if (LogError.is(cause)) return cause.retryable;
  }
  return false;
}
