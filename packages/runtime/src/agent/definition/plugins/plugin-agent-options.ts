import type { Plugin } from "./define-plugin.ts";

/** Options of an agent for its plugins. */
export interface PluginAgentOptions {
  /** Called in this order, each with a state of its own that lives as long as the session. Their keys differ. */
  readonly plugins?: readonly Plugin[] | undefined;
}
