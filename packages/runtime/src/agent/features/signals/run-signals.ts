import type { Agent } from "../../definition/agent.ts";
import { createSignalRouter, type SignalRouter } from "../../definition/signals/signal-router.ts";
import type { Loop } from "../../turn/loop.ts";
import { PartKey } from "../../turn/run-parts.ts";

/** What a run does about signals. */
export interface RunSignals {
  /** Absent where the agent has no routes. */
  readonly router: SignalRouter | undefined;
  /** How long, in ms, a call that waits for a signal or for time is waited for here before the run suspends. */
  readonly waitMs: number;
}

const SIGNALS = new PartKey<RunSignals>("signals");

export function signalsOf({ parts }: Loop): RunSignals {
  return parts.need(SIGNALS);
}

export function bindSignals({ parts, agent }: Loop, waitMs: number = 0): void {
  parts.set(SIGNALS, { router: routerOf(agent), waitMs });
}

/** The router of an agent; nothing where it has no routes. */
function routerOf({ options }: Agent<unknown>): SignalRouter | undefined {
  const strategy = options.strategy?.signalRoutes() ?? [];
  const agent = options.signalRoutes ?? [];
  const plugins = options.plugins?.flatMap(({ signalRoutes }) => signalRoutes) ?? [];
  return strategy.length + agent.length + plugins.length === 0 ? undefined : createSignalRouter(strategy, agent, plugins);
}
