import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { AgentError, type Executor } from "@keelson/protocol";
import { createMcpManager, type McpAuthorize, type McpLifecycleManager } from "keelson/mcp";
import type { Policy } from "keelson/security";
import { createCodingExecutor } from "../core/coding-executor.ts";
import type { Home } from "../core/home.ts";
import type { ProjectTrust } from "../trust/project-trust.ts";
import { readProjectServers, serverPath } from "../trust/project-servers.ts";
import type { FoundServer } from "./find-servers.ts";
import { lateTokens } from "./late-tokens.ts";

export interface OpenServersOptions {
  /** Those to use, also where they are disabled. */
  readonly servers: readonly FoundServer[];
  readonly cwd: string;
  readonly home: Pick<Home, "path">;
  /** Has a person log in. */
  readonly authorize?: McpAuthorize;
  readonly trust: ProjectTrust;
  readonly environment: { readonly [name: string]: string | undefined };
  /** Programs run in a sandbox of the policy. */
  readonly sandbox: boolean;
  readonly policy?: Policy | undefined;
}

/** A manager of these servers, none of which is started yet. Their programs are run as the agent's commands are: in its sandbox, where it has one. */
export function openServers(options: OpenServersOptions): McpLifecycleManager {
  const { servers, cwd, home, authorize, trust, environment, sandbox, policy } = options;
  const commands = createCodingExecutor(cwd, { sandbox, policy });
  const ofProject = new Map(servers.flatMap((server) => (server.scope === "project" ? [[server.name, server]] : [])));
  return createMcpManager({
    servers: Object.fromEntries(servers.map(({ name, config }) => [name, { ...config, enabled: true }])),
    cwd,
    variables: environment,
    // What people logged in with, by the address that it is for.
    tokens: lateTokens(join(home.path, "mcp-tokens")),
    ...(authorize && { authorize }),
    exec(name) {
      const server = ofProject.get(name);
      return server === undefined ? commands : asTrusted(server, commands, { trust, environment });
    },
  });
}

/** A server is started more than once, and what it is may have been changed since it was trusted: by the agent, for one. */
function asTrusted(
  { name, config }: FoundServer,
  commands: Executor,
  { trust, environment }: Pick<OpenServersOptions, "trust" | "environment">,
): Executor {
  return {
    async execute(request) {
      const { servers } = await readProjectServers(trust.project, { environment });
      const now = servers.find((server) => server.name === name);
      if (now === undefined || !isDeepStrictEqual(now.config, config) || !(await trust.allows(now.item)))
        throw new AgentError({
          kind: "invalid-option",
          option: serverPath(name),
          message: `${serverPath(name)}, or a file that it runs, is not what was trusted any more, so the server was not started. Look at it with: keelson trust`,
        });
      return commands.execute(request);
    },
  };
}
