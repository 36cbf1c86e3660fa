import type { JsonValue, NeedsContext, Tool } from "@keelson/protocol";
import { definedOptions } from "../../json/defined-options.ts";
import { createToolRegistry } from "../../tools/tool-registry.ts";
import type { Agent, AgentOptions, Agents, JsonAgentOptions } from "./agent.ts";
import { asTools, type AgentContextRequest, type AnyTool, type ContextOf } from "./tool-context/context-factory.ts";
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

type GivenOptions = (AgentOptions<unknown> | JsonAgentOptions) & { readonly context?: Agent["context"] };

/** The options without those that decide which context an agent needs. They are stated once, because each is checked against every option of its name. */
type Others<Options> = Omit<Options, "tools" | "agents">;

/** The options that decide which context an agent needs. */
interface ContextOptions<Tools, Children, Own, Inherited> {
  readonly tools?: Tools | undefined;
  readonly agents?: Children | undefined;
  /**
   * Makes the context of this agent's tools in the place of the one that it would inherit: that of its parent, or of the runner, which it finds as
   * `inherited`. Its children inherit what it returns.
   */
  readonly context?: ((request: AgentContextRequest<Inherited>) => Own) | undefined;
}

/** The context that tools and children need. */
type Needed<Tools extends readonly AnyTool[], Children extends Agents<never>> = ContextOf<Tools[number]> &
  ContextOf<Children[keyof Children]>;
/** What the runner must make: all that is needed, or what the agent's own `context` starts from. */
type Required<Needed, Own, Inherited> = [Own] extends [never] ? Needed : Inherited;

/**
 * Defines an agent. The definition is checked as a whole.
 * @throws AgentError of kind `invalid-option` that names the option
 */
export function createAgent<
  Tools extends readonly AnyTool[] = readonly Tool[],
  Children extends Agents<never> = Record<never, never>,
  Own extends Promise<Needed<Tools, Children>> | Needed<Tools, Children> = never,
  Inherited = unknown,
>(
  options: Others<JsonAgentOptions> & ContextOptions<Tools, Children, Own, Inherited>,
): Agent<JsonValue, Required<Needed<Tools, Children>, Own, Inherited>>;
export function createAgent<
  Out = undefined,
  Tools extends readonly AnyTool[] = readonly Tool[],
  Children extends Agents<never> = Record<never, never>,
  Own extends Promise<Needed<Tools, Children>> | Needed<Tools, Children> = never,
  Inherited = unknown,
>(
  options: Others<AgentOptions<Out>> & ContextOptions<Tools, Children, Own, Inherited>,
): Agent<Out, Required<Needed<Tools, Children>, Own, Inherited>>;
export function createAgent(options: GivenOptions): Agent<unknown> {
  checkShape(options);
  const { output, ...given } = definedOptions<GivenOptions>(options);
  const rest = {
    ...given,
    ...(given.limits !== undefined && { limits: definedOptions(given.limits) }),
    ...(given.settings !== undefined && { settings: definedOptions(given.settings) }),
  };
  const middleware = agentMiddleware(rest);
  const ownTools = asTools(rest.tools ?? []);
  const offered = middleware === undefined ? ownTools : [...ownTools, ...middleware.tools];
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
    ...(rest.context !== undefined && { context: rest.context }),
    ...(rest.context === undefined && own.some(({ needsContext }) => needsContext) && { needsContext: true as NeedsContext<unknown> }),
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
