import type { Provider, Tool } from "@keelson/protocol";
import type { Agent, ModelChoice } from "../../agent/definition/agent.ts";
import { agentTool, isAgentTool } from "../../agent/definition/children/agent-tool.ts";
import { isHandoffTool } from "../../agent/definition/children/handoff.ts";
import { createToolRegistry } from "../../tools/tool-registry.ts";

export interface AgentParts {
  provider(provider: Provider): Provider;
  tool(tool: Tool): Tool;
}

/** The same definition, digest and all, with other models and tools, down to the agents below it. */
export function disturbedAgent<Out>(agent: Agent<Out>, parts: AgentParts, known: Map<unknown, unknown> = new Map()): Agent<Out> {
  const made = known.get(agent);
  if (made !== undefined) return made as Agent<Out>;
  const choice = (model: ModelChoice): ModelChoice => (typeof model === "string" ? model : parts.provider(model));
  const { model, fallbackModel } = agent.options;
  const below = (child: Agent<unknown>): Agent<unknown> => disturbedAgent(child, parts, known);
  const toolOf = (tool: Tool): Tool => {
    if (isAgentTool(tool)) return { ...tool, agent: below(tool.agent) } as Tool;
    if (isHandoffTool(tool)) return tool.agent === undefined ? tool : ({ ...tool, agent: below(tool.agent) } as Tool);
    return parts.tool(tool);
  };
  const changed: Agent<Out> = {
    ...agent,
    options: { ...agent.options, model: choice(model), ...(fallbackModel !== undefined && { fallbackModel: choice(fallbackModel) }) },
    tools: createToolRegistry([...agent.tools].map(toolOf)).snapshot(),
    with: (changes) => disturbedAgent(agent.with(changes), parts),
    asTool: (options) => agentTool(changed as Agent<unknown>, options),
  };
  known.set(agent, changed);
  return changed;
}
