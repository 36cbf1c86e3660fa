import type { LogRecord } from "@keelson/protocol";
import type { SessionState } from "./session-state.ts";
import type { Folds } from "./folds/fold.ts";
import type { RecordOf } from "./record-data.ts";
import { RUN_FOLDS, type RunRecordType } from "./folds/run-folds.ts";
import { SESSION_FOLDS, type SessionRecordType } from "./folds/session-folds.ts";
import { isKept } from "./folds/shown-events.ts";
import { TURN_FOLDS, type TurnRecordType } from "./folds/turn-folds.ts";
import { WORK_FOLDS, type WorkRecordType } from "./folds/work-folds.ts";

/**
 * Folds one record. The same function runs when a session is opened and when a run commits, so that what a run knows is
 * always what a resume would know. Unknown types are kept by the log and skipped here.
 */
export function applyRecord(state: SessionState, record: LogRecord): void {
  if (state.seq === 0) state.createdAt = record.at;
  state.seq = record.seq;
  state.at = record.at;
  if (isFolded(record)) fold(state, record);
  const { run } = state;
  if (run === undefined) return;
  run.open.set(record.key, record);
  if (run.shown !== undefined && isKept(record, run.shown.types)) run.shown.events.push(record);
}

function isFolded(record: LogRecord): record is RecordOf<FoldedType> {
  return Object.hasOwn(FOLDS, record.type);
}

function fold<T extends FoldedType>(state: SessionState, record: RecordOf<T>): void {
  const change: Folds<FoldedType>[T] = FOLDS[record.type];
  change(state, record, record.data);
}

type FoldedType = RunRecordType | SessionRecordType | TurnRecordType | WorkRecordType;

const FOLDS: Folds<FoldedType> = { ...SESSION_FOLDS, ...RUN_FOLDS, ...TURN_FOLDS, ...WORK_FOLDS };
