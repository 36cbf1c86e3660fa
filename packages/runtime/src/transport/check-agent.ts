import { AgentError } from "@keelson/protocol";

/** What an agent's own options stand in the place of. */
interface BesideAgent {
  readonly fetch?: unknown;
  readonly tls?: unknown;
  readonly proxyEnvironment?: unknown;
  readonly transport?: unknown;
}

/**
 * An option that has no effect would be one that a user relies on in vain.
 * @throws AgentError of kind `invalid-option` where it is no agent, or stands beside an option of which one would have no effect
 */
export function checkAgent(agent: object | undefined, { fetch, tls, proxyEnvironment, transport }: BesideAgent): void {
  if (agent === undefined) return;
  if (typeof (agent as { addRequest?: unknown } | null)?.addRequest !== "function")
    throw invalidAgent(
      "agent takes an Agent of node:http or node:https; a dispatcher of undici goes with its fetch, which the option fetch takes.",
    );
  const beside = Object.entries({ fetch, tls, proxyEnvironment, transport }).find(([, value]) => value !== undefined)?.[0];
  if (beside !== undefined)
    throw invalidAgent(
      `agent and ${beside} were both given, and only one of them makes the connections: leave one out. What tls and proxies need are options of the agent itself.`,
    );
}

function invalidAgent(message: string): AgentError {
  return new AgentError({ kind: "invalid-option", option: "agent", message });
}
