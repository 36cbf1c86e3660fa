import { AgentError, KeelsonError, LogError, OrchestratorError, type SessionId } from "@keelson/protocol";

/** Why a process can't work on a session any more, or at all: what its log said, in the words of the agent boundary. */
export function agentErrorOf(session: SessionId, cause: unknown): AgentError {
  if (AgentError.is(cause)) return cause;
  if (LogError.is(cause, "stale-epoch") || LogError.is(cause, "conflict"))
    return new AgentError(
      { kind: "detached", session, message: `This process lost the session "${session}"; the run goes on where the lease is now.` },
      { cause },
    );
  if (LogError.is(cause, "lease-held"))
    return new AgentError(
      {
        kind: "session",
        session,
        message: `Session "${session}" is being worked on by ${cause.failure.owner}. Wait for it to end, or stop it.`,
      },
      { cause },
    );
  if (LogError.is(cause))
    return new AgentError(
      { kind: "backend", message: `The log or the budget ledger of session "${session}" failed: ${cause.message}` },
      { cause },
    );
  if (OrchestratorError.is(cause))
    return new AgentError({ kind: "backend", message: `The orchestrator of session "${session}" failed: ${cause.message}` }, { cause });
  return new AgentError(
    { kind: "bug", message: `The run failed unexpectedly: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}` },
    { cause },
  );
}

/** What a log throws does not cross the boundary of agents as it is: it rejects with `AgentError`. */
export async function atAgentBoundary<T>(session: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw agentErrorOf(session as SessionId, error);
  }
}

/** Whether a log failed for what it holds of one session, so that others can be read all the same. */
export function isOfOneSession(error: unknown): boolean {
  return !(error instanceof KeelsonError && error.retryable) && !LogError.is(error, "closed");
}
