import { join } from "node:path";
import type { McpServerStatus, McpToolDescriptor, ToolPins, ToolSource } from "@keelson/protocol";
import type { Policy } from "keelson/security";
import { createFsStore } from "keelson/state";
import { createToolPins } from "keelson/tools";
import type { Home } from "../core/home.ts";
import type { Launch } from "../core/launch.ts";
import type { ProjectItem } from "../trust/project-item.ts";
import type { ProjectTrust } from "../trust/project-trust.ts";
import { findServers, type FoundServer, type FoundServers } from "./find-servers.ts";

/** The servers that runs of the coding agent use. Disposed of when the last of these runs has ended. */
export interface ServersOfRuns extends AsyncDisposable {
  readonly toolSources: readonly ToolSource[];
  /** Starts them, so that they are there when the first run asks for them. Nobody has to: runs start them, too. */
  start(): void;
  /** Everything that is configured, as it was found when this was made, with the state of each server that is used, and what was trusted since. */
  states(): Promise<ServerStates>;
}

export interface ServerStates extends Pick<FoundServers, "problems"> {
  readonly servers: readonly ServerState[];
}

/** A configured server, and what became of it in this process. */
export interface ServerState {
  readonly server: FoundServer;
  /** Absent: it is not used. */
  readonly status?: McpServerStatus;
  /** The tools of a server that is connected. */
  readonly tools?: readonly McpToolDescriptor[];
}

export interface ServersOfRunsOptions {
  readonly launch: Launch;
  readonly policy?: Policy | undefined;
  readonly home: Pick<Home, "path">;
  readonly trust: ProjectTrust;
  readonly environment: { readonly [name: string]: string | undefined };
  /** How long the first turn of a run waits for servers that do not say so themselves. */
  readonly startupWaitMs: number;
  /** Told once of each server of the project that nobody trusts. */
  onLeftOut(item: ProjectItem): void;
  /** Told what is wrong in the files of servers. */
  onProblem(message: string): void;
}

/** In `-p`: such a run has no later turn in which a server that comes late would be of use. */
export const UNATTENDED_WAIT_MS = 10_000;

function withoutServers({ servers, problems }: FoundServers, trust: ProjectTrust): ServersOfRuns {
  return {
    toolSources: [],
    start() {},
    states: async () => ({ servers: await Promise.all(servers.map((server) => unusedState(server, trust))), problems }),
    async [Symbol.asyncDispose]() {},
  };
}

/** The state of a server that this process does not use. */
async function unusedState(server: FoundServer, trust: ProjectTrust): Promise<ServerState> {
  const isTrustedSince = server.state === "untrusted" && server.item !== undefined && (await trust.allows(server.item));
  return { server: isTrustedSince ? { ...server, state: "next-start" } : server };
}

/** The servers that are configured for a launch and may be used; what is wrong with others is told. */
export async function serversOfRuns(options: ServersOfRunsOptions): Promise<ServersOfRuns> {
  const { launch, policy, home, trust, environment, startupWaitMs, onLeftOut, onProblem } = options;
  if (launch.agent.mcp === false) return withoutServers({ servers: [], problems: [] }, trust);
  const found = await findServers({ home, trust, environment, file: launch.agent.mcpConfig });
  const { servers, problems } = found;
  for (const { message } of problems) onProblem(message);
  for (const { name, state, item, file } of servers) {
    if (state === "untrusted" && item !== undefined) onLeftOut(item);
    if (state === "shadowed") onProblem(`${file}: the server "${name}" is not used, since another file has one of that name.`);
  }
  const usable = servers.filter(({ state }) => state === "usable");
  if (usable.length === 0) return withoutServers(found, trust);
  const { openServers } = await import("./open-servers.ts");
  const { cwd, agent } = launch;
  const manager = openServers({ servers: usable, cwd, home, trust, environment, sandbox: agent.sandbox === true, policy });
  return {
    toolSources: [manager.toolSource({ startupWaitMs, resources: true, pins: pinsOf(home, trust) })],
    start: () => void manager.startAll(),
    async states() {
      const states = servers.map(async (server): Promise<ServerState> => {
        if (!usable.includes(server)) return unusedState(server, trust);
        const status = manager.status(server.name);
        if (status.state !== "connected") return { server, status };
        // The status of a server says why it lists no tools.
        const tools = await manager.listTools(server.name).catch(() => undefined);
        return { server, status, ...(tools !== undefined && { tools }) };
      });
      return { servers: await Promise.all(states), problems };
    },
    [Symbol.asyncDispose]: () => manager[Symbol.asyncDispose](),
  };
}

/** Which versions of tools people allowed in this project, so that they are asked again about those that servers change. */
function pinsOf(home: Pick<Home, "path">, { project }: ProjectTrust): ToolPins {
  return createToolPins(createFsStore(join(home.path, "tool-pins")), { type: "custom", namespace: "project", id: project });
}
