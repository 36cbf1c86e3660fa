import { AgentError } from "@keelson/protocol";

export function sessionError(session: string, message: string, cause?: unknown): AgentError {
  return new AgentError({ kind: "session", session, message }, cause === undefined ? {} : { cause });
}
