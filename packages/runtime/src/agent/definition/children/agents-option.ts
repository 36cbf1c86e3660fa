import { AgentError } from "@keelson/protocol";
import type { Agents, AnyAgent } from "../agent.ts";
import { asAgent } from "../as-agent.ts";
import { agentTool } from "./agent-tool.ts";
import type { AgentTool } from "../agent.ts";

const TOOL_NAME = /^[\w-]{1,64}$/;

/**
 * The tools that an agent's `agents` are offered as, under the names they are given there.
 * @throws AgentError of kind `invalid-option` that names the entry
 */
export function agentsAsTools(agents: Agents<never> | undefined, tools: readonly { readonly name?: string }[]): readonly AgentTool[] {
  if (agents === undefined) return NONE;
  if (typeof agents !== "object" || agents === null || Array.isArray(agents))
    throw invalid("agents", `must be agents by name, as in { researcher: createAgent(…) }, not ${JSON.stringify(agents)}`);
  return Object.entries(agents).map(([name, agent]) => {
    const option = `agents.${name}`;
    if (!TOOL_NAME.test(name))
      throw invalid(option, 'must be named by 1 to 64 letters, digits, "_" or "-": the model calls it by that name');
    if (typeof (agent as Partial<AnyAgent> | undefined)?.asTool !== "function")
      throw invalid(option, "is no agent: make it with createAgent");
    if (tools.some((tool) => tool?.name === name)) throw invalid(option, "has the name of a tool: rename one of the two");
    return agentTool(asAgent(agent), { name });
  });
}
const NONE: readonly AgentTool[] = [];

function invalid(option: string, problem: string): AgentError {
  return new AgentError({ kind: "invalid-option", option, message: `${option} ${problem}.` });
}
