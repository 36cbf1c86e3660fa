import type { Signal, SignalAction, SignalKind, SignalRoute } from "@keelson/protocol";

export interface SignalRouter {
  /** What is to be done about a signal; nothing when no route matches. @throws what a predicate throws */
  route(signal: Signal): SignalAction | undefined;
}

/**
 * A router of three tiers: a match in an earlier one counts, whatever the priorities. Within a tier the highest priority wins,
 * of equal ones the first.
 */
export function createSignalRouter(
  strategyRoutes: readonly SignalRoute[],
  agentRoutes: readonly SignalRoute[],
  pluginRoutes: readonly SignalRoute[],
): SignalRouter {
  // A stable sort, once: equal priorities stay in their order.
  const tiers = [strategyRoutes, agentRoutes, pluginRoutes].map((tier) => tier.toSorted((a, b) => b.priority - a.priority));
  return {
    route(signal) {
      for (const tier of tiers)
        for (const { kind, predicate, action } of tier)
          if (kind === signal.kind && (predicate === undefined || predicate(signal))) return action;
      return undefined;
    },
  };
}

/** A route as data. @param predicate pure: it is asked again on replay */
export function signalRoute(
  kind: SignalKind,
  action: SignalAction,
  priority: number = 0,
  predicate?: (signal: Signal) => boolean,
): SignalRoute {
  return { kind, action, priority, ...(predicate && { predicate }) };
}
