import { isDurableEventType, isEmittedType, type LogRecord } from "@keelson/protocol";
import { shownEvent } from "../shown-event.ts";
import type { RunState } from "../session-state.ts";

/** Takes note that plugins were shown the events of the run up to here. Each of several that saw one batch says so. */
export function noteShown(run: RunState, { key }: LogRecord, upTo: number): void {
  if (run.shown === undefined) return keepShown(run, key, upTo);
  const { upTo: from, events, types } = run.shown;
  if (from === upTo) return;
  let known = 0;
  while (known < events.length && (events[known] as LogRecord).seq <= from) known++;
  run.shown = { key, from, upTo, events: events.slice(known), types };
}

/** From here on the events that plugins are shown are kept. @param types those of them that some plugin wants; default all */
export function keepShown(run: RunState, key: string, upTo: number, types?: readonly string[]): void {
  const events = [...run.open.values()].filter((record) => isKept(record, types));
  run.shown = { key, from: 0, upTo, events, types };
}

/** Whether plugins that want these types are shown a record. */
export function isKept(record: LogRecord, types: readonly string[] | undefined): boolean {
  if (types === undefined) return isShownType(record.type);
  // Nearly no record is a directive, and only those are shown as something else.
  return types.includes(record.type === "directive" ? shownEvent(record).type : record.type);
}

export function isShownType(type: string): boolean {
  let known = shownTypes.get(type);
  if (known === undefined) shownTypes.set(type, (known = !UNSHOWN.has(type) && (isDurableEventType(type) || isEmittedType(type))));
  return known;
}
const shownTypes = new Map<string, boolean>();
/** Changes of state, since those of one plugin are no business of another, and what comes when plugins have seen the last. */
const UNSHOWN = new Set(["state-update", "run-complete", "error"]);
