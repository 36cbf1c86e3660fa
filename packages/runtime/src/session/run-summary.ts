import type { SessionMetadata } from "@keelson/protocol";
import type { RunState } from "./session-state.ts";

/** What lists tell of the newest run of a session. */
export function runSummary(run: RunState | undefined): Pick<SessionMetadata, "state" | "reason"> {
  const reason = run?.end?.reason ?? run?.suspendReason;
  return run === undefined ? {} : { state: run.status, ...(reason !== undefined && { reason }) };
}
