import { AGENT_FAILURE_RETRYABLE, type AgentFailure, type Failure } from "@keelson/protocol";

/** A failure that a log holds, which a later version may have written, as one of the kinds of this version. */
export function knownFailure(failure: Failure): AgentFailure {
  if (Object.hasOwn(AGENT_FAILURE_RETRYABLE, failure.kind)) return failure as AgentFailure;
  return { kind: "other", message: failure.message };
}
