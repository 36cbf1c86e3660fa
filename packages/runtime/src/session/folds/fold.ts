import { addEstimated, addUsage, addUsd, type EstimatedCalls, type Message, type Usage, type Usd } from "@keelson/protocol";
import type { RecordData, RecordOf, RecordType } from "../record-data.ts";
import type { RunState, SessionState, Totals } from "../session-state.ts";

/** Changes the state by one record of a type. */
export type Fold<T extends RecordType> = (state: SessionState, record: RecordOf<T>, data: RecordData[T]) => void;

/** Folds of some types of records. */
export type Folds<T extends RecordType> = { readonly [K in T]: Fold<K> };

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

/** A message that comes from outside of the turns. The user's is what is asked of the agent from now on. */
export function addSteering(state: SessionState, message: Message): void {
  state.conversation.append(message);
  if (message.role === "user") state.request = state.conversation.length - 1;
}
