import type { JsonObject, SignalRoute, Tool } from "@keelson/protocol";
import type { AgentOptions } from "../agent.ts";
import { transitionTool } from "./transition-tool.ts";

type Behaviour = Pick<AgentOptions<never>, "strategy" | "signalRoutes" | "onSignal">;

/** The tool that a strategy adds to those of its agent, where it offers actions. */
export function toolsOfStrategy({ strategy }: Behaviour): readonly Tool[] {
  const offered = strategy?.machine?.offered;
  return offered === undefined || offered.size === 0 ? [] : [transitionTool(offered) as Tool];
}

/** The strategy and what is done about signals, as data for the digest of a definition. */
export function digestOfBehaviour({ strategy, signalRoutes, onSignal }: Behaviour): { readonly [name: string]: unknown } {
  const routes = strategy?.signalRoutes() ?? [];
  return {
    strategy: strategy?.machine?.definition,
    strategyRoutes: routes.length === 0 ? undefined : routes.map(routeAsData),
    signalRoutes: signalRoutes?.map(routeAsData),
    onSignal: onSignal && Object.keys(onSignal),
  };
}

function routeAsData({ kind, action, priority, predicate }: SignalRoute): JsonObject {
  return { kind, action, priority, ...(predicate && { predicate: predicate.name }) };
}
