export { systemClock, type Clock } from "../platform/clock.ts";
export { Execution, type ExecutionOptions } from "./execution.ts";
export { foldSession } from "./fold-session.ts";
export { Journal, type JournalOptions } from "./journal.ts";
export { applyRecord } from "./apply-record.ts";
export { emptySession, type RunState, type SessionState, type Totals } from "./session-state.ts";
export { modelSetSince } from "./session-model.ts";
export { createSessions, type Sessions, type SessionsOptions, type SessionView } from "./sessions.ts";
export { Suspension } from "./suspension.ts";
// What its signatures are made of, so that the protocol need not be installed beside this package.
export type { BlobStore, EventLog, ExecutionContext, RecordedEvent } from "@keelson/protocol";
