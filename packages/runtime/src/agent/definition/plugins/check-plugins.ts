import { AgentError } from "@keelson/protocol";
import type { Plugin } from "./define-plugin.ts";

/** @throws AgentError of kind `invalid-option` that names the place in `plugins` */
export function checkPlugins(plugins: readonly Plugin[] | undefined): void {
  if (plugins === undefined) return;
  if (!Array.isArray(plugins)) throw invalid("plugins", "plugins must be a list of plugins: make them with definePlugin");
  const keys = new Set<string>();
  for (const [index, plugin] of plugins.entries() as IterableIterator<[number, Partial<Plugin> | undefined]>) {
    if (typeof plugin?.key !== "string" || !Array.isArray(plugin.signalRoutes) || plugin.initialState === undefined)
      throw invalid(`plugins[${index}]`, `plugins[${index}] is no plugin: make it with definePlugin`);
    if (keys.has(plugin.key))
      throw invalid(`plugins[${index}]`, `two plugins have the key "${plugin.key}": each needs one of its own for its state`);
    keys.add(plugin.key);
  }
}

/** What of plugins a run depends on as data. */
export function pluginsAsData(plugins: readonly Plugin[] | undefined): unknown {
  return plugins?.map((plugin) => ({
    key: plugin.key,
    ...(plugin.events && { events: plugin.events }),
    calls: (["beforeRun", "onUserMessage", "onEvent", "afterRun"] as const).filter((callback) => plugin[callback]),
    signalRoutes: plugin.signalRoutes.map(({ kind, action, priority }) => ({ kind, action, priority })),
  }));
}

function invalid(option: string, message: string): AgentError {
  return new AgentError({ kind: "invalid-option", option, message: `${message}.` });
}
