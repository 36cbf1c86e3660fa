import { AgentError, type ToolSource } from "@keelson/protocol";
import type { Agent } from "../../definition/agent.ts";
import type { McpServers } from "../../turn/mcp-servers.ts";

/** The name of the source of the servers that an agent names. */
export const NAMED_SERVERS = "mcpServers";
/** An agent that names a server counts on its tools. */
const STARTUP_WAIT_MS = 10_000;

/** Runs of one agent share what is known of its servers. */
const sources = new WeakMap<McpServers, WeakMap<Agent<unknown>, ToolSource>>();

/**
 * Returns the source of the servers that an agent names, if it names some.
 * @throws AgentError of kind `invalid-option` if the runner has no manager
 */
export function namedServers(agent: Agent<unknown>, mcp: McpServers | undefined): ToolSource | undefined {
  const { mcpServers: servers = [] } = agent.options;
  if (servers.length === 0) return undefined;
  if (mcp === undefined)
    throw new AgentError({
      kind: "invalid-option",
      option: "mcp",
      message: `The agent "${agent.name}" names the servers ${servers.join(", ")} in mcpServers, and its runner knows no servers: give it createRunner({ mcp: createMcpManager(…) }).`,
    });
  const known = sources.get(mcp) ?? new WeakMap<Agent<unknown>, ToolSource>();
  sources.set(mcp, known);
  const source = known.get(agent) ?? mcp.toolSource({ name: NAMED_SERVERS, servers, startupWaitMs: STARTUP_WAIT_MS });
  known.set(agent, source);
  return source;
}
