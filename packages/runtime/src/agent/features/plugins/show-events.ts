import type { Directive, LogRecord, RunId } from "@keelson/protocol";
import { copyJson } from "../../../json/copy-json.ts";
import { isKept } from "../../../session/folds/shown-events.ts";
import { shownEvent } from "../../../session/shown-event.ts";
import type { ShownEvents } from "../../../session/session-state.ts";
import { runOf, sessionOf, type Loop } from "../../turn/loop.ts";
import { askObserver, checkedDirectives } from "./ask-plugin.ts";
import type { MemoryEffect, Plugin, PluginEvent, PluginState } from "../../definition/plugins/define-plugin.ts";

/** The events behind `from`, up to `upTo`; there may be others beside them. */
interface Batch extends Pick<ShownEvents, "from" | "upTo" | "events"> {
  /** Where in the log they are shown. */
  readonly place: string;
  readonly runId: RunId;
  readonly turn: number;
}

/**
 * Shows plugins the durable events since the last time, when they are in the log. The first verdict about a batch fixes it, so
 * that after a crash whoever is still to be asked is shown the same.
 */
export async function showEvents(loop: Loop, plugins: readonly Plugin[], place: string): Promise<void> {
  const { runId } = loop.execution;
  const { turn, shown } = runOf(loop);
  if (shown === undefined) return;
  const { key, events, from, upTo } = shown;
  const batch: Batch = key.startsWith(`${runId}/${place}/`)
    ? { place, runId, turn, events, from, upTo }
    : { place, runId, turn, events, from: upTo, upTo: sessionOf(loop).seq };
  const concerned = plugins.filter((plugin) => events.some((record) => isFor(plugin, record, batch)));
  if (concerned.length === 0) return;
  await loop.execution.flush();
  for (const plugin of concerned)
    await askObserver(loop, {
      plugin,
      key: `${place}/plugin/${plugin.key}/events`,
      callback: "onEvent",
      ask: (state) => show(plugin, batch, state),
      shownUpTo: batch.upTo,
    });
}

function isFor({ events }: Plugin, record: LogRecord, { from, upTo }: Batch): boolean {
  return record.seq > from && record.seq <= upTo && isKept(record, events);
}

/** @returns what the plugin asks for */
async function show(plugin: Plugin, batch: Batch, state: PluginState<unknown>): Promise<readonly (Directive | MemoryEffect)[]> {
  const { runId, turn, events } = batch;
  const directives: (Directive | MemoryEffect)[] = [];
  for (const record of events) {
    if (!isFor(plugin, record, batch)) continue;
    const asked = await plugin.onEvent?.({ turn, event: eventOf(record, runId) }, state);
    directives.push(...checkedDirectives(asked));
  }
  return directives;
}

/** An event of its own for whoever is shown it. */
function eventOf(record: LogRecord, runId: RunId): PluginEvent {
  const { type, data } = shownEvent(record);
  const { seq, at } = record;
  const event: { [name: string]: unknown } = { ...data, type, seq, at, runId };
  for (const name in data) {
    const member = data[name];
    if (typeof member === "object" && member !== null) event[name] = copyJson(member);
  }
  return event as PluginEvent;
}
