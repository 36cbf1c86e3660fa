import { AgentError, LogError, OrchestratorError } from "@keelson/protocol";

/** Restate, or the process that is to do the work, did not say what became of it: it may be asked again. */
export function unreachable(message: string, cause?: unknown): OrchestratorError {
  return new OrchestratorError({ kind: "operator-error", operator: { kind: "retryable", message }, message }, { cause });
}

/** Whether something failed that may be well a moment later: the log or Restate can't be reached, or another process has the session. */
export function isPassing(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (AgentError.is(cause, "detached")) return true;
    if (LogError.is(cause)) return cause.retryable;
    if (OrchestratorError.is(cause, "operator-error") && cause.failure.operator.kind === "retryable") return true;
  }
  return false;
}
