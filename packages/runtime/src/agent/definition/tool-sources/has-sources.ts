import type { AgentOptions } from "../agent.ts";

/** True if tools may come while the agent runs. */
export function hasSources({ toolSources = [], mcpServers = [] }: Pick<AgentOptions<never>, "toolSources" | "mcpServers">): boolean {
  return toolSources.length > 0 || mcpServers.length > 0;
}
