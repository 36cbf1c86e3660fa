import { AgentError, type Directive, type JsonObject, type JsonValue, type LogRecord, type Message } from "@keelson/protocol";
import { copyJson } from "../../json/copy-json.ts";
import { loadJsonPatch, type JsonPatch } from "../../json/json-patch.ts";
import { describeThrown } from "../../tools/describe-thrown.ts";
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
  if (Object.keys(missing).length > 0) {
    await loadJsonPatch();
    putState(loop, "plugins/initial", additionOf(agentState, missing));
  }
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
 * Shows plugins the durable events since the last time, when they are in the log. The batch is fixed by a record first, so that
 * a replay shows the same.
 */
export async function showEvents(loop: Loop, plugins: LoopPlugins, place: string): Promise<void> {
  const { execution } = loop;
  execution.note(`${place}/events`, "events-shown", { upTo: sessionOf(loop).seq });
  await execution.flush();
  const { turn, shown } = runOf(loop);
  if (shown === undefined) return;
  const { from, upTo, events } = shown;
  const batch = events.filter(({ seq }) => seq > from && seq <= upTo).map((record) => eventOf(record, loop));
  for (const plugin of plugins.onEvent)
    await observe(loop, plugin, `${place}/plugin/${plugin.key}/events`, "onEvent", async (state) => {
      const directives: Directive[] = [];
      for (const event of batch) {
        const answer = plugin.onEvent?.({ turn, event: copyJson(event) }, state);
        if (answer !== undefined) directives.push(...checked(await answer));
      }
      return directives;
    });
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
async function observe(...args: Parameters<typeof call>): Promise<void> {
  try {
    await call(...args);
  } catch (error) {
    if (!AgentError.is(error, "panic")) throw error;
    args[0].execution.emit({ type: "status", level: "warn", status: error.message });
  }
}

/** One callback, asked once. What it changed and what it asks for stand in the log with its verdict. */
async function call(
  loop: Loop,
  plugin: Plugin,
  key: string,
  callback: keyof PluginCallbacks<unknown>,
  act: (state: PluginState<unknown>) => PluginDirectives | Promise<PluginDirectives>,
): Promise<void> {
  const verdict = await loop.execution.decide(key, async (): Promise<{ patch?: JsonPatch; directives?: readonly Directive[] }> => {
    const { agentState } = sessionOf(loop);
    const draft = new StateDraft(plugin, agentState);
    try {
      const directives = checked(await act(draft.state));
      const patch = await draft.finish(plugin, agentState);
      return { ...(patch && { patch }), ...(directives.length > 0 && { directives }) };
    } catch (cause) {
      const name = `${callback} of plugin "${plugin.name}"`;
      throw new AgentError({ kind: "panic", callback: name, message: `${name} threw: ${describeThrown(cause)}` }, { cause });
    }
  });
  if (verdict.patch) {
    // A verdict that is read from the log may be the first that this process has to do with patches.
    await loadJsonPatch();
    putState(loop, `${key}/state`, verdict.patch);
  }
  if (verdict.directives) declareEffects(loop, key, directiveEffects(verdict.directives));
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

function eventOf({ type, data, seq, at }: LogRecord, loop: Loop): PluginEvent {
  return { ...(data as JsonObject), type, seq, at, runId: loop.execution.runId } as unknown as PluginEvent;
}
