import type { Agent, AnyAgent } from "./agent.ts";

/** Returns an agent as the runner works it: its runs have the context that it needs, and their outputs are unknown values. */
export function asAgent(agent: AnyAgent): Agent<unknown> {
  return agent as unknown as Agent<unknown>;
}
