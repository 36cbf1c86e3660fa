import { join } from "node:path";
import type { McpServerConfig } from "@keelson/protocol";
import type { McpConfigFile, McpConfigProblem } from "keelson/mcp";
import type { Home } from "../core/home.ts";
import type { ProjectItem } from "../trust/project-item.ts";
import type { ProjectTrust } from "../trust/project-trust.ts";
import { readProjectServers, SERVERS_PATH } from "../trust/project-servers.ts";

/** Where a server is configured: in a file that the command named, in the person's own, in the project's. */
export type ServerScope = "file" | "user" | "project";

export interface FoundServer {
  readonly name: string;
  readonly scope: ServerScope;
  /** The path of the file. */
  readonly file: string;
  readonly config: McpServerConfig;
  /** Of a project's. */
  readonly item?: ProjectItem;
  /**
   * `untrusted`: it is the project's, and nobody trusts it as it is. `next-start`: it was trusted since this process began, which does not use it.
   * `shadowed`: a file that counts for more has one of that name.
   */
  readonly state: "usable" | "disabled" | "untrusted" | "next-start" | "shadowed";
}

export interface FoundServers {
  /** Those that count for more first; several may have the same name. */
  readonly servers: readonly FoundServer[];
  readonly problems: readonly McpConfigProblem[];
}

export interface FindServersOptions {
  readonly home: Pick<Home, "path">;
  readonly trust: ProjectTrust;
  readonly environment: { readonly [name: string]: string | undefined };
  /** A file of servers for this command. */
  readonly file?: string | undefined;
}

export function userServersFile({ path }: Pick<Home, "path">): string {
  return join(path, "mcp.json");
}

export function projectServersFile(project: string): string {
  return join(project, SERVERS_PATH);
}

/**
 * The servers that are configured here, nothing of which is started. Who has one of a name of their own does not get the project's in its
 * place: permissions are given to names.
 */
export async function findServers({ home, trust, environment, file }: FindServersOptions): Promise<FoundServers> {
  const ofFile = file === undefined ? NONE : await readFile(file);
  const ofUser = await readFile(userServersFile(home));
  const ofProject = await readProjectServers(trust.project, { environment });
  const listed: Omit<FoundServer, "state">[] = [
    ...Object.entries(ofFile.servers).map(([name, config]) => ({ name, config, scope: "file" as const, file: file ?? "" })),
    ...Object.entries(ofUser.servers).map(([name, config]) => ({ name, config, scope: "user" as const, file: userServersFile(home) })),
    ...ofProject.servers.map((server) => ({ ...server, scope: "project" as const, file: projectServersFile(trust.project) })),
  ];
  const names = new Set<string>();
  const servers: FoundServer[] = [];
  for (const server of listed) {
    servers.push({ ...server, state: names.has(server.name) ? "shadowed" : await stateOf(server, trust) });
    names.add(server.name);
  }
  return { servers, problems: [...ofFile.problems, ...ofUser.problems, ...ofProject.problems] };
}

const NONE: McpConfigFile = { servers: {}, problems: [] };

async function readFile(path: string): Promise<McpConfigFile> {
  const { readMcpConfig } = await import("keelson/mcp");
  return readMcpConfig(path);
}

async function stateOf({ config, item }: Omit<FoundServer, "state">, trust: ProjectTrust): Promise<FoundServer["state"]> {
  if (item !== undefined && !(await trust.allows(item))) return "untrusted";
  return config.enabled === false ? "disabled" : "usable";
}
