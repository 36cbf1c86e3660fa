import { addEstimated, addUsage, addUsd, type EstimatedCalls, type LogRecord, type Usage, type Usd } from "@keelson/protocol";
import type { RunState, SessionState, Totals } from "../session-state.ts";

/** Changes the state by one record. The shapes of `data` are those of the durable events in the protocol, less `type`; records of other types are named where they are folded. */
export type Fold = (state: SessionState, record: LogRecord, data: never) => void;

export type Folds = { readonly [type: string]: Fold | undefined };

/** The run that a record belongs to. @throws RangeError when there is none */
export function running(state: SessionState): RunState {
  if (state.run === undefined) throw new RangeError(`record ${state.seq} of session "${state.id}" belongs to a run that never started`);
  return state.run;
}

export function addTo(totals: Totals, usage: Usage, cost: Usd | null, estimated?: EstimatedCalls): void {
  const sum = addEstimated(totals.estimated, estimated);
  if (sum !== undefined) totals.estimated = sum;
  totals.usage = addUsage(totals.usage, usage);
  if (cost === null) totals.costKnown = false;
  else totals.cost = addUsd(totals.cost, cost);
}
