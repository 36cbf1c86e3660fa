import type { RunId, SessionId, Tool } from "@keelson/protocol";
import { policyAt } from "../core/agent-permissions.ts";
import { checkSandbox } from "../core/coding-executor.ts";
import type { CommandHost } from "../core/command-host.ts";
import type { Home } from "../core/home.ts";
import type { AgentOptions } from "../options/command-line.ts";
import type { ProjectTrust } from "../trust/project-trust.ts";
import type { FoundServer } from "./find-servers.ts";
import { openServers } from "./open-servers.ts";

export interface TestServerOptions {
  /** Where the agent would work. */
  readonly folder: string;
  readonly home: Pick<Home, "path">;
  readonly trust: ProjectTrust;
  readonly agent: AgentOptions;
}

/** What came of connecting to a server. */
export interface TestedServer {
  readonly server: string;
  readonly protocolVersion?: string;
  /** Until it was connected. */
  readonly connectMs: number;
  /** Until it had listed its tools. */
  readonly listMs: number;
  readonly tools: readonly Pick<Tool, "name" | "description" | "effect" | "risk">[];
  /** What of it is left out. */
  readonly problems: readonly string[];
}

/** Connects to one server as runs do, asks what it offers, and leaves nothing of it. @throws McpError */
export async function testServer(
  server: FoundServer,
  { folder, home, trust, agent }: TestServerOptions,
  { environment, now }: Pick<CommandHost, "environment" | "now">,
): Promise<TestedServer> {
  const policy = await policyAt(agent.policy);
  const sandbox = agent.sandbox === true;
  if (sandbox) await checkSandbox(folder, policy);
  await using manager = openServers({ servers: [server], cwd: folder, home, trust, environment, sandbox, policy });
  const begun = now();
  const transport = manager.transport(server.name);
  await transport.connect();
  const connected = now();
  // Rejects where they can't be listed; a source only tells of it.
  await transport.listTools();
  const listed = now();
  const { signal } = new AbortController();
  await using source = await manager
    .toolSource({ startupWaitMs: 1 })
    .open({ runId: "test" as RunId, session: "test" as SessionId, agent: "test", signal });
  await source.ready;
  const { protocolVersion } = manager.status(server.name);
  return {
    server: server.name,
    ...(protocolVersion !== undefined && { protocolVersion }),
    connectMs: connected - begun,
    listMs: listed - connected,
    tools: source.tools().map(({ name, description, effect, risk }) => ({ name, description, effect, risk })),
    problems: source.problems?.() ?? [],
  };
}
