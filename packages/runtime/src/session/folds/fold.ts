import { addUsage, addUsd, isDurableEventType, type LogRecord, type Usage, type Usd } from "@keelson/protocol";
import type { RunState, SessionState, Totals } from "../session-state.ts";

/** Changes the state by one record. The shapes of `data` are those of the durable events in the protocol, less `type`; records of other types are named where they are folded. */
export type Fold = (state: SessionState, record: LogRecord, data: never) => void;

export type Folds = { readonly [type: string]: Fold | undefined };

/** The run that a record belongs to. @throws RangeError when there is none */
export function running(state: SessionState): RunState {
  if (state.run === undefined) throw new RangeError(`record ${state.seq} of session "${state.id}" belongs to a run that never started`);
  return state.run;
}

export function addTo(totals: Totals, usage: Usage, cost: Usd | null): void {
  totals.usage = addUsage(totals.usage, usage);
  if (cost === null) totals.costKnown = false;
  else totals.cost = addUsd(totals.cost, cost);
}

/** Takes note that plugins were shown the events of the run up to here. Each of several that saw one batch says so. */
export function noteShown(run: RunState, { key }: LogRecord, upTo: number): void {
  const { upTo: from, events } = run.shown ?? { upTo: 0, events: [...run.open.values()].filter(isShown) };
  if (run.shown !== undefined && from === upTo) return;
  let known = 0;
  while (known < events.length && (events[known] as LogRecord).seq <= from) known++;
  run.shown = { key, from, upTo, events: events.slice(known) };
}

/** Whether plugins are shown a record. Changes of state are not: those of one plugin are no business of another. */
export function isShown({ type }: LogRecord): boolean {
  let known = shownTypes.get(type);
  if (known === undefined) shownTypes.set(type, (known = type !== "state-update" && isDurableEventType(type)));
  return known;
}
const shownTypes = new Map<string, boolean>();
