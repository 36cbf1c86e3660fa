import type { Agent, Agents } from "../definition/agent.ts";
import { isAgentTool } from "../definition/children/agent-tool.ts";
import { isHandoffTool } from "../definition/children/handoff.ts";
import { invalidOption } from "../definition/invalid-option.ts";
import type { ContextFactory } from "../definition/tool-context/context-factory.ts";

interface GivenAgents {
  readonly agent?: Agent<unknown> | undefined;
  readonly agents?: Agents<never> | undefined;
  readonly context?: ContextFactory<unknown> | undefined;
}

/** @throws AgentError of kind `invalid-option` if a tool needs a context and nothing makes one */
export function checkContext({ agent, agents = {}, context }: GivenAgents): void {
  if (context !== undefined) return;
  for (const given of [...(agent ? [agent] : []), ...(Object.values(agents) as Agent<unknown>[])]) {
    if (!given.needsContext) continue;
    throw invalidOption(
      "context",
      `is missing: ${needingTool(given)} needs one. Make it for each run: createRunner({ agent, context: ({ session, metadata }) => … })`,
    );
  }
}

/** Returns a name of the tool, for messages, with the agents that lead to it. */
function needingTool(agent: Agent<unknown>): string {
  const tool = [...agent.tools].find(({ needsContext }) => needsContext);
  const below = tool && (isAgentTool(tool) || isHandoffTool(tool)) ? tool.agent : undefined;
  return below?.needsContext ? needingTool(below) : `the tool "${tool?.name}" of agent "${agent.name}"`;
}
