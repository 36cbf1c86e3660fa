import { AgentError, type Directive, type JsonValue, type LogRecord, type Message, type RunId } from "@keelson/protocol";
import { whenThere } from "../../context/when-there.ts";
import { copyJson } from "../../json/copy-json.ts";
import type { JsonPatch } from "../../json/json-patch.ts";
import { asRecorded } from "../../session/as-recorded.ts";
import type { Execution, VerdictData } from "../../session/execution.ts";
import type { ShownEvents } from "../../session/session-state.ts";
import { describeThrown } from "../../tools/describe-thrown.ts";
import { isThenable } from "../../tools/is-thenable.ts";
import { declareEffects, directiveEffects } from "../effects/declare-effects.ts";
import { runOf, sessionOf, type Loop } from "../loop/loop.ts";
import type { Plugin, PluginCallbacks, PluginDirectives, PluginEvent, PluginState } from "./define-plugin.ts";
import { PluginStateMap } from "./plugin-state-map.ts";
import { additionOf, StateDraft, storedState } from "./state-draft.ts";

/** The plugins of a run, by what they want to be called for. */
export interface LoopPlugins {
  readonly all: readonly Plugin[];
  readonly beforeRun: readonly Plugin[];
  readonly onUserMessage: readonly Plugin[];
  readonly onEvent: readonly Plugin[];
  readonly afterRun: readonly Plugin[];
}

export function loopPlugins(all: readonly Plugin[] | undefined): LoopPlugins | undefined {
  if (all === undefined || all.length === 0) return undefined;
  const having = (callback: keyof PluginCallbacks<unknown>): readonly Plugin[] => all.filter((plugin) => plugin[callback]);
  return {
    all,
    beforeRun: having("beforeRun"),
    onUserMessage: having("onUserMessage"),
    onEvent: having("onEvent"),
    afterRun: having("afterRun"),
  };
}

/** Records the state that new plugins begin with, then calls `beforeRun`. */
export function beginPlugins(loop: Loop): Promise<void> | undefined {
  return loop.plugins && begin(loop, loop.plugins);
}

async function begin(loop: Loop, plugins: LoopPlugins): Promise<void> {
  const states = new PluginStateMap();
  const { agentState } = sessionOf(loop);
  for (const plugin of plugins.all)
    if (storedState(plugin.key, agentState) === undefined) states.register(plugin, plugin.initialState as never);
  const missing = states.serializeAll();
  if (Object.keys(missing).length > 0) putState(loop, "plugins/initial", additionOf(agentState, missing));
  // From here on the run's events are kept until they are shown.
  if (plugins.onEvent.length > 0) loop.execution.note("plugins/events", "events-shown", { upTo: 0 });
  const input = { turn: 0, ...messageOf(runOf(loop).unanswered) };
  for (const plugin of plugins.beforeRun)
    await call(loop, plugin, `prologue/plugin/${plugin.key}`, "beforeRun", (state) => plugin.beforeRun?.(input, state));
}

/** Calls `onUserMessage` for what the user said that no model was asked with yet. */
export async function tellUserMessages(loop: Loop, plugins: LoopPlugins): Promise<void> {
  const { turn, unanswered, userMessages } = runOf(loop);
  for (const [index, message] of [...unanswered].entries()) {
    const number = userMessages - unanswered.length + index;
    for (const plugin of plugins.onUserMessage)
      await call(loop, plugin, `t${turn}/plugin/${plugin.key}/message/${number}`, "onUserMessage", (state) =>
        plugin.onUserMessage?.({ turn, ...messageOf([message]) }, state),
      );
  }
}

/**
 * Shows plugins the durable events since the last time, when they are in the log. The first verdict about a batch fixes it, so
 * that after a crash whoever is still to be asked is shown the same.
 */
export async function showEvents(loop: Loop, plugins: LoopPlugins, place: string): Promise<void> {
  const { execution } = loop;
  const { runId } = execution;
  const { turn, shown } = runOf(loop);
  if (shown === undefined) return;
  const { events, from, upTo } = shown;
  const isFixed = shown.key.startsWith(`${runId}/${place}/`);
  const batch: Batch = isFixed ? { runId, turn, events, from, upTo } : { runId, turn, events, from: upTo, upTo: sessionOf(loop).seq };
  await execution.flush();
  for (const plugin of plugins.onEvent) {
    const key = `${place}/plugin/${plugin.key}/events`;
    const showing = observe(loop, plugin, key, "onEvent", (state) => show(plugin, batch, 0, state, []), batch.upTo);
    if (showing !== undefined) await showing;
  }
}

/** The events behind `from`, up to `upTo`; there may be others beside them. */
interface Batch extends Pick<ShownEvents, "from" | "upTo" | "events"> {
  readonly runId: RunId;
  readonly turn: number;
}

/** Shows a plugin a batch from the event at `index` on. @param directives what it asked for so far; gets what it asks for */
function show(
  plugin: Plugin,
  batch: Batch,
  index: number,
  state: PluginState<unknown>,
  directives: Directive[],
): readonly Directive[] | Promise<readonly Directive[]> {
  const { runId, turn, events, from, upTo } = batch;
  for (let next = index; next < events.length; next++) {
    const record = events[next] as LogRecord;
    if (record.seq <= from) continue;
    if (record.seq > upTo) break;
    const answer = plugin.onEvent?.({ turn, event: eventOf(record, runId) }, state);
    if (answer === undefined) continue;
    if (isThenable(answer))
      return Promise.resolve(answer).then((given) => {
        directives.push(...checked(given));
        return show(plugin, batch, next + 1, state, directives);
      });
    directives.push(...checked(answer));
  }
  return directives;
}

/** Between the result of a run and its terminal event: the last events, then `afterRun`. */
export const pluginsStage: { applies(loop: Loop): boolean; run(loop: Loop): Promise<void> } = {
  applies: ({ plugins }) => plugins !== undefined && (plugins.onEvent.length > 0 || plugins.afterRun.length > 0),
  async run(loop) {
    const plugins = loop.plugins as LoopPlugins;
    if (plugins.onEvent.length > 0) await showEvents(loop, plugins, "epilogue");
    const { turn, text, ending } = runOf(loop);
    const input = { turn, message: text, reason: ending?.reason ?? "error" };
    for (const plugin of plugins.afterRun)
      await observe(loop, plugin, `epilogue/plugin/${plugin.key}`, "afterRun", (state) => plugin.afterRun?.(input, state));
  },
};

/** A callback that can't influence the run: that it threw is told, and its state is as it was. */
function observe(...args: Parameters<typeof call>): void | Promise<void> {
  const warn = (error: unknown): void => {
    if (!AgentError.is(error, "panic")) throw error;
    args[0].execution.emit({ type: "status", level: "warn", status: error.message });
  };
  try {
    const calling = call(...args);
    return calling instanceof Promise ? calling.catch(warn) : calling;
  } catch (error) {
    warn(error);
  }
}

/**
 * One callback, asked once. What it changed and what it asks for stand in the log with its verdict. A promise only where it waits.
 * @param shownUpTo where the events end that it is asked about
 */
function call(
  loop: Loop,
  plugin: Plugin,
  key: string,
  callback: keyof PluginCallbacks<unknown>,
  act: (state: PluginState<unknown>) => PluginDirectives | Promise<PluginDirectives>,
  shownUpTo?: number,
): void | Promise<void> {
  const { execution } = loop;
  const judging = execution.verdict<Verdict | undefined>(
    key,
    () => verdictOf(loop, plugin, callback, act),
    (data) => record(execution, key, data, shownUpTo),
  );
  return whenThere(judging, (verdict) => {
    if (verdict?.directives === undefined) return;
    if (verdict.patch) putState(loop, `${key}/state`, verdict.patch);
    declareEffects(loop, key, directiveEffects(verdict.directives));
  });
}

interface Verdict {
  readonly patch?: JsonPatch;
  readonly directives?: readonly Directive[];
}

/** A verdict that changes the state and asks for nothing is no more than the record of that change. */
function record(execution: Execution, key: string, data: VerdictData, shownUpTo: number | undefined): void {
  const { patch, directives } = (data.value ?? {}) as Verdict;
  const about = shownUpTo === undefined ? {} : { shownUpTo };
  if (patch !== undefined && directives === undefined)
    execution.note(key, "state-update", { patch: patch as unknown as JsonValue, ...about });
  else execution.note(key, "decision", { ...data, ...about });
}

function verdictOf(
  loop: Loop,
  plugin: Plugin,
  callback: keyof PluginCallbacks<unknown>,
  act: Parameters<typeof call>[4],
): Verdict | Promise<Verdict> {
  const { agentState } = sessionOf(loop);
  const draft = new StateDraft(plugin, agentState);
  const finish = (given: PluginDirectives): Verdict => {
    const directives = checked(given);
    const patch = draft.finish();
    return { ...(patch && { patch }), ...(directives.length > 0 && { directives: asRecorded(directives) }) };
  };
  const failed = (cause: unknown): never => {
    const name = `${callback} of plugin "${plugin.name}"`;
    throw new AgentError({ kind: "panic", callback: name, message: `${name} threw: ${describeThrown(cause)}` }, { cause });
  };
  try {
    const acting = act(draft.state);
    return isThenable(acting) ? Promise.resolve(acting).then(finish).catch(failed) : finish(acting);
  } catch (cause) {
    return failed(cause);
  }
}

function putState(loop: Loop, key: string, patch: JsonPatch): void {
  loop.execution.put(key, "state-update", { patch: patch as unknown as JsonValue });
}

function checked(directives: PluginDirectives): readonly Directive[] {
  if (directives === undefined) return [];
  if (Array.isArray(directives) && directives.every((directive) => typeof (directive as Partial<Directive> | null)?.type === "string"))
    return directives;
  throw new TypeError("it must return a list of directives, or nothing");
}

function messageOf(messages: readonly Message[]): { readonly message?: string } {
  if (messages.length === 0) return {};
  const parts = messages.flatMap(({ content }) => content.flatMap((part) => (part.type === "text" ? [part.text] : [])));
  return { message: parts.join("\n\n") };
}

/** An event of its own for whoever is shown it. */
function eventOf({ type, data, seq, at }: LogRecord, runId: RunId): PluginEvent {
  const event: { [name: string]: unknown } = { ...data, type, seq, at, runId };
  for (const name in data) {
    const member = data[name];
    if (typeof member === "object" && member !== null) event[name] = copyJson(member);
  }
  return event as unknown as PluginEvent;
}
