import type { JsonValue, Tool } from "@keelson/protocol";
import { definedOptions } from "../../json/defined-options.ts";
import { createToolRegistry } from "../../tools/tool-registry.ts";
import type { Agent, AgentOptions, JsonAgentOptions } from "./agent.ts";
import { checkAgentOptions, checkShape } from "./check-agent-options.ts";
import { agentTool, isAgentTool } from "./children/agent-tool.ts";
import { agentsAsTools } from "./children/agents-option.ts";
import { isHandoffTool } from "./children/handoff.ts";
import { definitionDigest } from "./definition-digest.ts";
import { checkHookMatchers } from "./hooks/check-hook-matchers.ts";
import { sealHooks } from "./hooks/hook-registry.ts";
import { agentMiddleware } from "./middleware/agent-middleware.ts";
import { checkOutput } from "./output/check-output.ts";
import { checkSearchTool } from "./tool-sources/check-tool-sources.ts";
import { hasSources } from "./tool-sources/has-sources.ts";
import { checkRuleTools } from "./permissions/check-rule-tools.ts";
import { compilePolicy } from "./permissions/compiled-policy.ts";
import { permissionPolicy } from "./permissions/permission-policy.ts";
import { toolsOfStrategy } from "./strategies/strategy-definition.ts";

/**
 * Defines an agent. The definition is checked as a whole.
 * @throws AgentError of kind `invalid-option` that names the option
 */
export function createAgent(options: JsonAgentOptions): Agent<JsonValue>;
export function createAgent<Out = undefined>(options: AgentOptions<Out>): Agent<Out>;
export function createAgent(options: AgentOptions<unknown> | JsonAgentOptions): Agent<unknown> {
  checkShape(options);
  const { output, ...given } = definedOptions<AgentOptions<unknown> | JsonAgentOptions>(options);
  const rest = {
    ...given,
    ...(given.limits !== undefined && { limits: definedOptions(given.limits) }),
    ...(given.settings !== undefined && { settings: definedOptions(given.settings) }),
  };
  const middleware = agentMiddleware(rest);
  const offered = middleware === undefined ? (rest.tools ?? []) : [...(rest.tools ?? []), ...middleware.tools];
  const allTools = rest.agents === undefined ? offered : [...offered, ...agentsAsTools(rest.agents, offered)];
  checkAgentOptions({ ...rest, tools: allTools });
  const excluded = new Set(rest.excludedTools);
  const own = allTools.filter((tool) => !excluded.has(tool.name));
  const tools = createToolRegistry([...own, ...toolsOfStrategy(rest)]).snapshot();
  checkSearchTool(rest, tools);
  const policy = permissionPolicy(rest);
  compilePolicy(policy);
  if (policy.rules.length > 0)
    checkRuleTools(policy.rules, [...tools, ...toolsBelow(allTools)], { mayBeMore: true, comesLater: hasSources(rest) });
  if (rest.hooks) {
    sealHooks(rest.hooks);
    checkHookMatchers(rest.hooks, [...tools, ...toolsBelow(allTools)], hasSources(rest));
  }
  const outputForm = checkOutput(rest, output, tools);
  const agent: Agent<unknown> = {
    name: rest.name,
    description: rest.description ?? "",
    options: rest,
    ...(output !== undefined && { output }),
    ...(outputForm && { outputForm }),
    tools,
    ...(middleware && { middleware }),
    subAgents: [...tools]
      .filter((tool) => "dispatch" in tool)
      .map((tool) => (tool as { readonly dispatch: { readonly operator: string } }).dispatch.operator),
    digest: definitionDigest({ options: rest, tools, middleware, output }),
    with: (changes) => createAgent({ ...rest, ...definedOptions(changes), ...(output && { output }) } as AgentOptions<unknown>),
    asTool: (toolOptions) => agentTool(agent, toolOptions),
  };
  return agent;
}

/** Tools that are there though the agent can't call them: excluded ones, and those of agents that it may start under its own rules. */
function toolsBelow(tools: readonly Tool[], seen: Set<unknown> = new Set()): readonly Tool[] {
  return tools.flatMap((tool) => {
    const below = isAgentTool(tool) ? tool.agent : isHandoffTool(tool) ? tool.agent : undefined;
    if (below === undefined || seen.has(below)) return [tool];
    seen.add(below);
    return [tool, ...toolsBelow([...below.tools], seen)];
  });
}
