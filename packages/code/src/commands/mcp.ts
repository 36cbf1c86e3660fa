import type { CommandHost } from "../core/command-host.ts";
import { type Home, openHome } from "../core/home.ts";
import { repositoryRoot } from "../instructions/index.ts";
import type { McpAction, McpAddAction, McpCommand, ServerFile } from "../options/command-line.ts";
import { UsageError } from "../options/usage-error.ts";
import { printableLine } from "../text/printable.ts";
import { serverLines, targetOf } from "../render/server-lines.ts";
import { createStyle, wantsColors } from "../text/style.ts";
import { editServers, type ServerEntries } from "../servers/edit-servers.ts";
import { findServers, type FoundServers, projectServersFile, userServersFile } from "../servers/find-servers.ts";
import { createProjectTrust, trustAll } from "../trust/project-trust.ts";
import { serverPath } from "../trust/project-servers.ts";
import { confinementOf, workingFolder } from "./plan-launch.ts";

interface Place {
  readonly home: Home;
  /** The root of the repository. */
  readonly project: string;
}

/** Lists, adds, removes and tries the servers that the agent uses. @returns the exit code */
export async function mcp({ action, json, trust, cwd, agent }: McpCommand, host: CommandHost): Promise<number> {
  const { environment } = host;
  const home = await openHome(environment);
  const folder = await workingFolder(host, cwd);
  const project = await repositoryRoot(folder);
  if (action.type === "add") return add(action, json, { home, project }, host);
  const confined = await confinementOf(agent, home, host);
  const projectTrust = trust ? trustAll(project) : createProjectTrust(home, project);
  const found = await findServers({ home, trust: projectTrust, environment, file: confined.mcpConfig });
  switch (action.type) {
    case "list":
      return list(found, json, host, found.servers.some(({ state }) => state === "usable") ? await clientProblemOf() : undefined);
    case "remove":
      return remove(action, found, json, { home, project }, host);
    case "test":
      return (await import("./mcp-test.ts")).mcpTest(
        { name: action.name, found, json, folder, home, trust: projectTrust, agent: confined },
        host,
      );
    case "login":
    case "logout":
      return (await import("./mcp-login.ts")).mcpLogin({ ...action, found, json, folder, home, trust: projectTrust }, host);
  }
}

async function clientProblemOf(): Promise<string | undefined> {
  return (await import("keelson/mcp")).mcpClientProblem();
}

export function list(
  { servers, problems }: FoundServers,
  json: boolean,
  { stdout, environment, command }: Pick<CommandHost, "stdout" | "environment" | "command">,
  clientProblem: string | undefined,
): number {
  if (json) {
    const listed = servers.map(({ name, scope, file, config, state, item }) => ({
      name,
      transport: config.type,
      target: targetOf(config),
      scope,
      file,
      state,
      ...(item !== undefined && { path: item.path, digest: item.digest, trusted: state !== "untrusted" }),
    }));
    stdout.write(`${JSON.stringify({ servers: listed, problems, ...(clientProblem !== undefined && { clientProblem }) })}\n`);
    return clientProblem === undefined ? 0 : 1;
  }
  const style = createStyle(wantsColors(stdout, environment));
  const lines = [
    ...serverLines(servers, { style, command, clientProblem }),
    ...(clientProblem === undefined ? [] : [style.red(`✗ ${printableLine(clientProblem)}`)]),
    ...problems.map(({ message }) => style.yellow(`! ${printableLine(message)}`)),
  ];
  stdout.write(`${lines.join("\n")}\n`);
  return clientProblem === undefined ? 0 : 1;
}

async function add({ name, scope, entry }: McpAddAction, json: boolean, place: Place, { stdout, command }: CommandHost): Promise<number> {
  const { plainSecret } = await import("../servers/plain-secret.ts");
  const secret = plainSecret(entry);
  const file = fileOf(scope, place);
  if (secret !== undefined)
    throw new UsageError(
      `${secret} looks like a secret, which would stand in ${file} for everyone who reads that`,
      "Put it into a variable of your environment, and name that in quotes: '${SOME_TOKEN}'.",
    );
  await edit(scope, place, (servers) => {
    if (Object.hasOwn(servers, name))
      throw new UsageError(
        `there is a server "${name}" in ${file} already`,
        `Give this one another name, or: ${command} mcp remove ${name}`,
      );
    return Object.fromEntries([...Object.entries(servers), [name, entry]]);
  });
  const next =
    scope === "project"
      ? `It starts once it is trusted: ${command} trust accept ${serverPath(name)}`
      : `Try it with: ${command} mcp test ${name}`;
  stdout.write(json ? `${JSON.stringify({ added: name, file })}\n` : `added ${name} to ${printableLine(file)}\n${next}\n`);
  return 0;
}

async function remove(
  { name, scope }: Extract<McpAction, { readonly type: "remove" }>,
  { servers }: FoundServers,
  json: boolean,
  place: Place,
  { stdout, command }: CommandHost,
): Promise<number> {
  const scopes = scope === undefined ? servers.filter((server) => server.name === name).map((server) => server.scope) : [scope];
  const [only, ...more] = scopes.filter((one) => one !== "file");
  if (more.length > 0)
    throw new UsageError(
      `your mcp.json and that of the project both have a server "${name}"`,
      "Say which with --scope user or --scope project.",
    );
  const from = only ?? "user";
  const file = fileOf(from, place);
  await edit(from, place, (entries) => {
    if (!Object.hasOwn(entries, name))
      throw new UsageError(
        `there is no server "${name}"${scope === undefined ? "" : ` in ${file}`}`,
        `${command} mcp list shows what there is.`,
      );
    return Object.fromEntries(Object.entries(entries).filter(([entry]) => entry !== name));
  });
  stdout.write(json ? `${JSON.stringify({ removed: name, file })}\n` : `removed ${name} from ${printableLine(file)}\n`);
  return 0;
}

function fileOf(scope: ServerFile, { home, project }: Place): string {
  return scope === "user" ? userServersFile(home) : projectServersFile(project);
}

async function edit(scope: ServerFile, place: Place, change: (servers: ServerEntries) => ServerEntries): Promise<void> {
  const file = fileOf(scope, place);
  await editServers(file, scope === "user" ? { isPrivate: true } : { isPrivate: false, within: place.project }, change);
}
