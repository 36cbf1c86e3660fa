import type { SessionId } from "@keelson/protocol";
import { createMcpServer, type McpServer, serveMcpHttp, serveMcpStdio } from "keelson/mcp";
import { AGENT_NAME } from "../core/agent-name.ts";
import { policyAt } from "../core/agent-permissions.ts";
import { createCodingRunner } from "../core/coding-runner.ts";
import type { CommandHost } from "../core/command-host.ts";
import { launchToMetadata } from "../core/launch.ts";
import { openModels } from "../core/model-access.ts";
import { readProjectRules } from "../core/project-rules.ts";
import { folderTag, isOfFolder } from "../core/session-folder.ts";
import { noSandboxLine, settleSandbox } from "../core/settle-sandbox.ts";
import { openStores } from "../core/stores.ts";
import { repositoryRoot } from "../instructions/index.ts";
import type { McpServeCommand } from "../options/command-line.ts";
import { UsageError } from "../options/usage-error.ts";
import { printable } from "../text/printable.ts";
import { leftOutLine } from "../render/trust-lines.ts";
import { serversOfRuns, UNATTENDED_WAIT_MS } from "../servers/servers-of-runs.ts";
import type { ProjectItem } from "../trust/project-item.ts";
import { createProjectTrust, trustAll } from "../trust/project-trust.ts";
import { openTrustedProject } from "../trust/trusted-project.ts";
import { planLaunch } from "./plan-launch.ts";

/** What sessions are tagged with that a client began: in others it can't go on. */
const TAG = "mcp";
const TOKEN = "KEELSON_MCP_TOKEN";

/** Offers the coding agent in a folder to clients until they are gone, or a signal ends it. @returns the exit code */
export async function mcpServe(command: McpServeCommand, host: CommandHost): Promise<number> {
  const token = host.environment[TOKEN];
  if (command.port !== undefined && (token === undefined || token === ""))
    throw new UsageError(
      `--port needs a token in ${TOKEN}`,
      "Set it to at least 16 characters that nobody guesses: clients have to show it.",
    );
  await using stores = await openStores(host.environment);
  const access = await openModels(host.environment);
  const { secrets } = access;
  const planned = await planLaunch(command, undefined, access, stores, host);
  const policy = await policyAt(planned.agent.policy);
  const { launch, problem } = await settleSandbox(planned, policy);
  if (problem !== undefined) host.stderr.write(`keelson: ${printable(noSandboxLine(problem))}\n`);
  const root = await repositoryRoot(launch.cwd);
  const trust = command.trust ? trustAll(root) : createProjectTrust(stores.home, root);
  const leftOut = (item: ProjectItem): void =>
    void host.stderr.write(`keelson: ${leftOutLine([item], `${host.command} trust accept ${item.path}, or --trust for this server`)}\n`);
  const reportProblem = (message: string): void => void host.stderr.write(`keelson: ${printable(message)}\n`);
  const project = await openTrustedProject(trust, {
    policy,
    secrets,
    home: stores.home,
    environment: host.environment,
    onProblem: reportProblem,
    onLeftOut: leftOut,
  });
  const projectRules = await readProjectRules(stores.home, launch.cwd);
  await using servers = await serversOfRuns({
    launch,
    policy,
    home: stores.home,
    trust,
    environment: host.environment,
    startupWaitMs: UNATTENDED_WAIT_MS,
    onLeftOut: leftOut,
    onProblem: reportProblem,
  });
  const { toolSources } = servers;
  const runner = createCodingRunner({ stores, models: access.models, secrets, launch, policy, projectRules, project, toolSources });
  const { sessions } = runner;

  const server = createMcpServer({
    name: "keelson",
    version: host.version,
    instructions: `A coding agent that works in ${launch.cwd}. It reads and changes files there and runs commands, as far as it is allowed.`,
    agents: [
      {
        agent: { name: AGENT_NAME },
        name: "keelson",
        description:
          "Has a coding agent work on a task in its folder: it reads and changes files, and runs commands. It answers when it is done.",
        model: launch.agent.model,
        metadata: launchToMetadata(launch),
        newSession: () => sessions.create({ tags: [folderTag(launch.cwd), TAG], agent: AGENT_NAME }),
      },
    ],
    runner,
    sessions,
    async mayUseSession(id) {
      const known = await sessions.get(id as SessionId).catch(() => undefined);
      return known !== undefined && known.metadata.tags.includes(TAG) && isOfFolder(known.metadata.tags, launch.cwd);
    },
    onError: (error) => void host.stderr.write(`keelson: ${error.message}\n`),
  });
  await serve(server, command.port, token, host);
  return 0;
}

async function serve(server: McpServer, port: number | undefined, token: string | undefined, host: CommandHost): Promise<void> {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  for (const signal of ["SIGINT", "SIGTERM"] as const) host.signals.on(signal, end);
  try {
    if (port === undefined) {
      const { closed } = await serveMcpStdio(server, { input: host.stdin, output: host.stdout });
      await Promise.race([closed, ended]);
    } else {
      const { url } = await serveMcpHttp(server, { port, ...(token !== undefined && { authenticate: token }) });
      host.stderr.write(`keelson: serving ${url}\n`);
      await ended;
    }
  } finally {
    for (const signal of ["SIGINT", "SIGTERM"] as const) host.signals.off(signal, end);
    await server.close();
  }
}
