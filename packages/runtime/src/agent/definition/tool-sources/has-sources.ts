import type { AgentOptions } from "../agent.ts";

/** Whether tools may come while the agent runs. */
export function hasSources({ toolSources }: Pick<AgentOptions<never>, "toolSources">): boolean {
  return toolSources !== undefined && toolSources.length > 0;
}
