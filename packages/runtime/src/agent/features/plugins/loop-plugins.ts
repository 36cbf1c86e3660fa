import type { Plugin, PluginCallbacks } from "../../definition/plugins/define-plugin.ts";
import type { Loop } from "../../turn/loop.ts";
import { PartKey } from "../../turn/run-parts.ts";

/** The plugins of a run, by what they want to be called for. */
export interface LoopPlugins {
  readonly all: readonly Plugin[];
  readonly beforeRun: readonly Plugin[];
  readonly onUserMessage: readonly Plugin[];
  readonly onEvent: readonly Plugin[];
  readonly afterRun: readonly Plugin[];
}

function loopPlugins(all: readonly Plugin[] | undefined): LoopPlugins | undefined {
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

const PLUGINS = new PartKey<LoopPlugins>("plugins");

/** The plugins of a run whose agent has some. */
export function pluginsOf({ parts }: Loop): LoopPlugins | undefined {
  return parts.get(PLUGINS);
}

export function bindPlugins({ parts, agent }: Loop): void {
  parts.set(PLUGINS, loopPlugins(agent.options.plugins));
}
