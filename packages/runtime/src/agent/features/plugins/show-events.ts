import type { Directive, LogRecord, RunId } from "@keelson/protocol";
import { copyJson } from "../../../json/copy-json.ts";
import { isKept } from "../../../session/folds/shown-events.ts";
import { shownEvent } from "../../../session/shown-event.ts";
import type { ShownEvents } from "../../../session/session-state.ts";
import { isThenable } from "../../../platform/is-thenable.ts";
import { runOf, sessionOf, type Loop } from "../../turn/loop.ts";
import { askObserver, checkedDirectives } from "./ask-plugin.ts";
import type { Plugin, PluginEvent, PluginState } from "../../definition/plugins/define-plugin.ts";

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
export function showEvents(loop: Loop, plugins: readonly Plugin[], place: string): Promise<void> | undefined {
  const { runId } = loop.execution;
  const { turn, shown } = runOf(loop);
  if (shown === undefined) return undefined;
  const { key, events, from, upTo } = shown;
  const batch: Batch = key.startsWith(`${runId}/${place}/`)
    ? { place, runId, turn, events, from, upTo }
    : { place, runId, turn, events, from: upTo, upTo: sessionOf(loop).seq };
  const concerned = plugins.filter((plugin) => events.some((record) => isFor(plugin, record, batch)));
  if (concerned.length === 0) return undefined;
  return loop.execution.flush().then(() => showBatch(loop, concerned, 0, batch));
}

/** Shows a batch to the plugins from the one at `index` on, one after another. A promise only where one waits. */
function showBatch(loop: Loop, plugins: readonly Plugin[], index: number, batch: Batch): void | Promise<void> {
  for (let next = index; next < plugins.length; next++) {
    const plugin = plugins[next] as Plugin;
    const showing = askObserver(loop, {
      plugin,
      key: `${batch.place}/plugin/${plugin.key}/events`,
      callback: "onEvent",
      ask: (state) => show(plugin, batch, 0, state, []),
      shownUpTo: batch.upTo,
    });
    if (showing !== undefined) return showing.then(() => showBatch(loop, plugins, next + 1, batch));
  }
}

function isFor({ events }: Plugin, record: LogRecord, { from, upTo }: Batch): boolean {
  return record.seq > from && record.seq <= upTo && isKept(record, events);
}

/** Shows a plugin a batch from the event at `index` on. @param asked what it asked for so far */
function show(
  plugin: Plugin,
  batch: Batch,
  index: number,
  state: PluginState<unknown>,
  asked: readonly Directive[],
): readonly Directive[] | Promise<readonly Directive[]> {
  const { runId, turn, events } = batch;
  let directives = asked;
  for (let next = index; next < events.length; next++) {
    const record = events[next] as LogRecord;
    if (!isFor(plugin, record, batch)) continue;
    const returned = plugin.onEvent?.({ turn, event: eventOf(record, runId) }, state);
    if (returned === undefined) continue;
    if (isThenable(returned))
      return Promise.resolve(returned).then((given) => show(plugin, batch, next + 1, state, [...directives, ...checkedDirectives(given)]));
    directives = [...directives, ...checkedDirectives(returned)];
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
