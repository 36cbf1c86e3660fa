import type { LogRecord } from "@keelson/protocol";
import type { SessionState } from "./session-state.ts";
import type { Folds } from "./folds/fold.ts";
import { RUN_FOLDS } from "./folds/run-folds.ts";
import { SESSION_FOLDS } from "./folds/session-folds.ts";
import { isKept } from "./folds/shown-events.ts";
import { TURN_FOLDS } from "./folds/turn-folds.ts";
import { WORK_FOLDS } from "./folds/work-folds.ts";

/**
 * Folds one record. The same function runs when a session is opened and when a run commits, so that what a run knows is
 * always what a resume would know. Unknown types are kept by the log and skipped here.
 */
export function applyRecord(state: SessionState, record: LogRecord): void {
  if (state.seq === 0) state.createdAt = record.at;
  state.seq = record.seq;
  state.at = record.at;
  const fold = FOLDS[record.type];
  if (fold !== undefined) fold(state, record, record.data as never);
  const { run } = state;
  if (run === undefined) return;
  run.open.set(record.key, record);
  if (run.shown !== undefined && isKept(record, run.shown.types)) run.shown.events.push(record);
}

const FOLDS: Folds = { ...SESSION_FOLDS, ...RUN_FOLDS, ...TURN_FOLDS, ...WORK_FOLDS };
