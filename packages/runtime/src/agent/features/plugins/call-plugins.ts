import type { Message } from "@keelson/protocol";
import { lastTextOf } from "../../../session/session-state.ts";
import { runOf, sessionOf, type Loop } from "../../turn/loop.ts";
import { askObserver, askPlugin } from "./ask-plugin.ts";
import type { Plugin } from "../../definition/plugins/define-plugin.ts";
import { PluginStateMap } from "./plugin-state-map.ts";
import { showEvents } from "./show-events.ts";
import { additionOf, storedState } from "./state-draft.ts";
import { pluginsOf } from "./loop-plugins.ts";
import type { LoopPlugins } from "./loop-plugins.ts";
import type { Step } from "../../turn/moments.ts";

/** Records the state that new plugins begin with, then calls `beforeRun`. */
export const pluginsBeginStep: Step = {
  name: "plugins' beforeRun",
  applies: (loop) => pluginsOf(loop) !== undefined,
  run: (loop) => begin(loop, pluginsOf(loop) as LoopPlugins),
};

/** Shows plugins the events of a turn that goes on. */
export const pluginEventsStep: Step = {
  name: "plugins' onEvent",
  applies: (loop) => (pluginsOf(loop)?.onEvent.length ?? 0) > 0,
  run: (loop, { turn }) => showEvents(loop, (pluginsOf(loop) as LoopPlugins).onEvent, turn),
};

async function begin(loop: Loop, plugins: LoopPlugins): Promise<void> {
  const states = new PluginStateMap();
  const { agentState } = sessionOf(loop);
  for (const plugin of plugins.all)
    // That it is JSON was checked where the plugin was defined; of a state of any type the compiler can't know it.
    if (storedState(plugin.key, agentState) === undefined) states.register(plugin, plugin.initialState as never);
  const missing = states.serializeAll();
  if (Object.keys(missing).length > 0) loop.execution.put("plugins/initial", "state-update", { patch: additionOf(agentState, missing) });
  // From here on the run's events are kept until they are shown.
  if (plugins.onEvent.length > 0) loop.execution.put("plugins/events", "events-shown", { upTo: 0, ...wantedTypes(plugins.onEvent) });
  const input = { turn: 0, ...messageOf(runOf(loop).unreadMessages) };
  for (const plugin of plugins.beforeRun)
    await askPlugin(loop, {
      plugin,
      key: `prologue/plugin/${plugin.key}`,
      callback: "beforeRun",
      ask: async (state) => plugin.beforeRun?.(input, state),
    });
}

function wantedTypes(plugins: readonly Plugin[]): { readonly types?: readonly string[] } {
  const types = new Set<string>();
  for (const { events } of plugins) {
    if (events === undefined) return {};
    for (const type of events) types.add(type);
  }
  return { types: [...types] };
}

/** Calls `onUserMessage` for what the user said that no model was asked with yet. */
export async function callOnUserMessage(loop: Loop, plugins: LoopPlugins): Promise<void> {
  const { turn, unreadMessages, userMessages } = runOf(loop);
  for (const [index, message] of [...unreadMessages].entries()) {
    const number = userMessages - unreadMessages.length + index;
    for (const plugin of plugins.onUserMessage)
      await askPlugin(loop, {
        plugin,
        key: `t${turn}/plugin/${plugin.key}/message/${number}`,
        callback: "onUserMessage",
        ask: async (state) => plugin.onUserMessage?.({ turn, ...messageOf([message]) }, state),
      });
  }
}

/** Between the result of a run and its terminal event: the last events, then `afterRun`. */
export const pluginsEndStep: Step = {
  name: "plugins' afterRun",
  applies(loop) {
    const plugins = pluginsOf(loop);
    return plugins !== undefined && (plugins.onEvent.length > 0 || plugins.afterRun.length > 0);
  },
  async run(loop) {
    const plugins = pluginsOf(loop) as LoopPlugins;
    if (plugins.onEvent.length > 0) await showEvents(loop, plugins.onEvent, "epilogue");
    const run = runOf(loop);
    const input = { turn: run.turn, message: lastTextOf(run), reason: run.ending?.reason ?? "error" };
    for (const plugin of plugins.afterRun)
      await askObserver(loop, {
        plugin,
        key: `epilogue/plugin/${plugin.key}`,
        callback: "afterRun",
        ask: async (state) => plugin.afterRun?.(input, state),
      });
  },
};

function messageOf(messages: readonly Message[]): { readonly message?: string } {
  if (messages.length === 0) return {};
  const parts = messages.flatMap(({ content }) => content.flatMap((part) => (part.type === "text" ? [part.text] : [])));
  return { message: parts.join("\n\n") };
}
