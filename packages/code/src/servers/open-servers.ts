import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { AgentError, type Executor } from "@keelson/protocol";
import { createMcpManager, type McpAuthorize, type McpLifecycleManager } from "keelson/mcp";
import type { Policy } from "keelson/security";
import { createCodingExecutor } from "../core/coding-executor.ts";
import type { Home } from "../core/home.ts";
import { WITHOUT_BYTECODE } from "../trust/covered-item.ts";
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
  /** Programs run in a sandbox of the policy, unless their entry says otherwise. */
  readonly sandbox: boolean;
  readonly policy?: Policy | undefined;
}

/**
 * A manager of these servers, none of which is started yet. Their programs get the variables that commands get. They run in the agent's
 * sandbox where the person asked for one or an entry says `sandbox: true`, and else outside.
 */
export function openServers(options: OpenServersOptions): McpLifecycleManager {
  const { servers, cwd, home, authorize, trust, environment, sandbox, policy } = options;
  const outside = createCodingExecutor(cwd, { sandbox: false, policy });
  const inside = createCodingExecutor(cwd, { sandbox: true, policy });
  const configs = new Map(servers.map(({ name, config }) => [name, config]));
  const programsOf = (name: string): Executor => {
    const config = configs.get(name);
    const isInside = config?.type === "stdio" && config.sandbox !== undefined ? config.sandbox : sandbox;
    const commands = isInside ? inside : outside;
    return { execute: (request) => commands.execute({ ...request, inheritEnv: true }) };
  };
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
      const commands = programsOf(name);
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
    async execute(given) {
      const request = { ...given, env: { ...WITHOUT_BYTECODE, ...given.env } };
      if (trust.trustsAll === true) return commands.execute(request);
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
