import type { LogRecord } from "@keelson/protocol";
import type { SessionState } from "./session-state.ts";

/** Gives records that were folded ahead of their append the time that the log gave them. */
export function stampTimes(state: SessionState, batch: readonly LogRecord[], at: number): void {
  state.at = at;
  for (const record of batch) {
    (record as { at: number }).at = at;
    if (record.type === "run-start" && state.run) state.run.startedAt = at;
    if (record.seq === 1) state.createdAt = at;
  }
}
