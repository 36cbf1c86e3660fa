import { join, resolve } from "node:path";
import { KeelsonError, type McpServerConfig } from "@keelson/protocol";
import type { McpConfigProblem } from "keelson/mcp";
import { readInstructionFile } from "../instructions/index.ts";
import { coverCommands } from "./covered-item.ts";
import type { ProjectItem, ProjectLook } from "./project-item.ts";

/** Below the root of the repository. */
export const SERVERS_PATH = ".mcp.json";
const MAX_BYTES = 1024 * 1024;

/** A server of the Model Context Protocol that a project brings, and what it is trusted as. */
export interface ProjectServer {
  readonly name: string;
  readonly config: McpServerConfig;
  readonly item: ProjectItem;
}

export interface ProjectServers {
  readonly servers: readonly ProjectServer[];
  readonly problems: readonly McpConfigProblem[];
}

/** The servers of a project's `.mcp.json`. Nothing of them is started here. */
export async function readProjectServers(project: string, { environment }: Pick<ProjectLook, "environment">): Promise<ProjectServers> {
  const path = join(project, SERVERS_PATH);
  const file = await readInstructionFile(path, MAX_BYTES, project);
  if (file === undefined) return { servers: [], problems: [] };
  if (file.note !== undefined)
    return { servers: [], problems: [{ file: path, message: `${path} is not used: ${file.note}`, isLeftOut: true }] };
  // Most projects have none.
  const { parseMcpConfig } = await import("keelson/mcp");
  const { servers, problems } = parseMcpConfig(file.text, path);
  const told = [...problems];
  const read = Object.entries(servers).map(async ([name, given]) => {
    const { trustAnnotations, ...config } = given;
    if (trustAnnotations !== undefined)
      told.push({
        file: path,
        server: name,
        message: `${path}: the server "${name}" has the field "trustAnnotations", which was passed over: only you can vouch for it, in your own mcp.json.`,
        isLeftOut: false,
      });
    return projectServer(project, name, config, environment);
  });
  return { servers: await Promise.all(read), problems: told };
}

export async function serverItems(project: string, look: ProjectLook): Promise<readonly ProjectItem[]> {
  return (await readProjectServers(project, look)).servers.map(({ item }) => item);
}

/** Names the one among the servers of the file. */
export function serverPath(name: string): string {
  return `${SERVERS_PATH}#${name}`;
}

async function projectServer(
  project: string,
  name: string,
  given: McpServerConfig,
  environment: ProjectLook["environment"],
): Promise<ProjectServer> {
  const { expandVariables, variablesIn } = await import("keelson/mcp");
  const expanded = (text: string): string => {
    try {
      return expandVariables(text, environment, name);
    } catch (error) {
      // It can't start, and says why then.
      if (error instanceof KeelsonError) return text;
      throw error;
    }
  };
  // Paths in it are the project's.
  const config = given.type === "stdio" ? { ...given, cwd: resolve(project, expanded(given.cwd ?? ".")) } : given;
  // What decides what is run, and who is spoken with, is trusted as it is now; values for it are only named.
  const deciding = config.type === "stdio" ? [config.command, ...(config.args ?? [])] : "url" in config ? [config.url] : [];
  const resolved = deciding.map(expanded);
  const folder = config.type === "stdio" ? config.cwd : undefined;
  const [program = "", ...args] = resolved;
  const covered = await coverCommands(
    project,
    [given, resolved, folder],
    folder === undefined ? [] : [{ program, args, cwd: folder, env: given.type === "stdio" ? (given.env ?? {}) : {} }],
  );
  const variables = [...new Set(textsOf(given).flatMap(variablesIn))];
  return {
    name,
    config,
    item: {
      kind: "server",
      path: serverPath(name),
      digest: covered.digest,
      shows: [
        ...descriptionOf(given),
        ...(variables.length > 0 ? [`reads of your environment: ${variables.join(", ")}`] : []),
        ...covered.shows,
      ],
    },
  };
}

function descriptionOf(config: McpServerConfig): readonly string[] {
  if (config.type === "in-process") return [];
  if (config.type === "stdio") {
    const { command, args = [], env = {}, cwd, sandbox } = config;
    return [
      `starts ${[command, ...args].map(quoted).join(" ")}`,
      ...(cwd === undefined ? [] : [`in ${cwd}`]),
      ...(sandbox === true ? ["in the sandbox"] : []),
      ...Object.entries(env).map(([name, value]) => `with ${name}=${quoted(value)}`),
    ];
  }
  const { url, headers = {}, authToken, oauth } = config;
  return [
    `connects to ${url} (${config.type})`,
    ...Object.entries(headers).map(([name, value]) => `with the header ${name}: ${value}`),
    ...(authToken === undefined ? [] : [`with the token ${authToken}`]),
    ...(oauth === undefined ? [] : [`logs in with ${JSON.stringify(oauth)}`]),
  ];
}

function quoted(text: string): string {
  return /^[^\s"'\\]+$/.test(text) ? text : JSON.stringify(text);
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}
