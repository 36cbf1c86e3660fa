import { type Approver, EXIT_CODES } from "@keelson/protocol";
import type { Run } from "keelson";
import type { ModelRegistry } from "keelson/providers";
import { openSessionRunner } from "../core/session-runner.ts";
import { policyAt } from "../core/agent-permissions.ts";
import { createCodingRunner } from "../core/coding-runner.ts";
import { createFileHistory } from "../history/index.ts";
import { launchToMetadata } from "../core/launch.ts";
import { openModels } from "../core/model-access.ts";
import { forkSession, newSession } from "../core/new-session.ts";
import { readProjectRules } from "../core/project-rules.ts";
import { secretNotices } from "../core/secret-notice.ts";
import { noSandboxLine, settleSandbox } from "../core/settle-sandbox.ts";
import { readTask } from "../core/read-task.ts";
import { type ListedSession, listSessions } from "../core/listed-session.ts";
import { resumeCost } from "../core/resume-cost.ts";
import type { CommandHost } from "../core/command-host.ts";
import { openStores, type Stores } from "../core/stores.ts";
import { repositoryRoot } from "../instructions/index.ts";
import { askTrust } from "../modes/ask-trust.ts";
import { chooseSession } from "../modes/choose-session.ts";
import { converse } from "../modes/interactive.ts";
import { messageLines } from "../modes/message-lines.ts";
import { printRun } from "../modes/print.ts";
import type { RunCommand } from "../options/command-line.ts";
import { findSession, noSession, planLaunch, type FoundSession, workingFolder } from "./plan-launch.ts";
import { folderTags, newestSession } from "../core/session-folder.ts";
import { workingFolders } from "../core/working-folders.ts";
import { UsageError } from "../options/usage-error.ts";
import { printable } from "../render/printable.ts";
import { resumeCostLine } from "../render/resume-cost-line.ts";
import { leftOutLine, trustedLine } from "../render/trust-lines.ts";
import { userHome } from "../settings/settings-places.ts";
import { expandTask } from "../slash-commands/find-markdown-commands.ts";
import { serversOfRuns, UNATTENDED_WAIT_MS } from "../servers/servers-of-runs.ts";
import type { ProjectItem } from "../trust/project-item.ts";
import { findUntrusted } from "../trust/project-items.ts";
import { createProjectTrust, trustAll, trustItems } from "../trust/project-trust.ts";
import { ownWorktreeAt } from "../worktrees/own-worktrees.ts";
import { openWorktreeOfRun } from "../worktrees/worktree-of-run.ts";
import { openTrustedProject } from "../trust/trusted-project.ts";

/** Works on a task: one response for a program or a reader, or a conversation in a terminal. @returns the exit code */
export async function run(given: RunCommand, host: CommandHost): Promise<number> {
  let command = given;
  const interactive = !command.print && host.stdin.isTTY === true && host.stdout.isTTY === true;
  const isStreamed = command.inputFormat === "stream-json";
  const task = interactive || isStreamed ? command.task : await readTask(command, host);
  // Everything below is awaited here: what is opened is closed when this function is left.
  await using stores = await openStores(host.environment);
  const access = await openModels(host.environment);
  const chosen =
    command.session.type === "choose" ? await chooseOne(command, { stores, models: access.models, interactive }, host) : command;
  if (chosen === undefined) return 0;
  const found = await findSession(chosen, stores, host);
  await using worktree = await openWorktreeOfRun({
    wanted: command.worktree,
    folder: command.worktree === undefined ? host.cwd : await workingFolder(host, command.cwd),
    ...{ home: stores.home.path, environment: host.environment, now: host.now() },
    isUsed: async (cwd) => (await newestSession(stores.log, cwd)) !== undefined,
    tell: (lines) => void (interactive ? host.stdout : host.stderr).write(`${lines.map(printable).join("\n")}\n`),
  });
  if (worktree.cwd !== undefined) command = { ...command, cwd: worktree.cwd };
  const planned = await planLaunch(command, found, access, stores, host);
  worktree.enter(planned.cwd);
  const policy = await policyAt(planned.agent.policy);
  const { launch: settled, problem } = await settleSandbox(planned, policy);
  let launch = settled;
  const own = found === undefined ? undefined : ownWorktreeAt(launch.cwd, stores.home.path);
  const notices = [
    ...worktree.notices,
    ...(own === undefined || worktree.cwd !== undefined ? [] : [`the session goes on in the worktree ${own.name}: ${own.root}`]),
    ...(launch.inSandbox ? await secretNotices(stores.home, launch.cwd, policy) : problem === undefined ? [] : [noSandboxLine(problem)]),
  ];
  const repository = await repositoryRoot(launch.cwd);
  const trust = command.trust ? trustAll(repository) : createProjectTrust(stores.home, repository);
  const options = {
    stores,
    models: access.models,
    secrets: access.secrets,
    launch,
    policy,
    projectRules: await readProjectRules(stores.home, launch.cwd),
  };
  if (interactive) {
    const brought = await findUntrusted(trust, { cwd: launch.cwd, environment: host.environment });
    const untrusted = brought.filter(({ kind }) => kind !== "server" || launch.agent.mcp !== false);
    if (untrusted.length > 0 && (await askTrust(untrusted, host))) {
      await trustItems(stores.home, repository, untrusted, host.now());
      host.stdout.write(`${trustedLine(untrusted)}\n`);
      // Settings that are trusted now may name another model.
      launch = { ...launch, agent: (await planLaunch(command, found, access, stores, host)).agent };
    }
    const forked =
      found && command.fork ? await forkSession(openSessionRunner(stores), found.id, folderTags(launch.cwd, stores.home.path)) : found?.id;
    if (forked !== undefined) worktree.keep();
    return await converse({ ...options, launch, notices, trust, session: forked, resume: found?.open === true, task }, host);
  }

  for (const notice of notices) host.stderr.write(`keelson: ${printable(notice)}\n`);
  const leftOut = (item: ProjectItem): void =>
    void host.stderr.write(`keelson: ${leftOutLine([item], `${host.command} trust accept ${item.path}, or --trust for one run`)}\n`);
  const reportProblem = (message: string): void => void host.stderr.write(`keelson: ${printable(message)}\n`);
  await using servers = await serversOfRuns({
    ...options,
    home: stores.home,
    trust,
    environment: host.environment,
    startupWaitMs: UNATTENDED_WAIT_MS,
    onLeftOut: leftOut,
    onProblem: reportProblem,
  });
  const project = await openTrustedProject(trust, {
    policy,
    secrets: access.secrets,
    home: stores.home,
    environment: host.environment,
    onProblem: reportProblem,
    onLeftOut: leftOut,
  });
  const history = createFileHistory({
    ...{ home: stores.home.path, cwd: launch.cwd, environment: host.environment, now: host.now },
    folders: workingFolders(launch, project),
    onProblem: reportProblem,
  });
  await history.recover().catch((error: unknown) => void host.stderr.write(`keelson: ${printable(String(error))}\n`));
  const runner = createCodingRunner({
    ...options,
    history,
    project,
    toolSources: servers.toolSources,
    ...(command.onApproval === "deny" && { approvals: denyAll }),
  });
  const print = (begun: Run<unknown>): Promise<number> =>
    printRun(
      begun,
      {
        format: command.outputFormat,
        model: launch.agent.model,
        claude: {
          cwd: launch.cwd,
          permissionMode: launch.agent.permissionMode ?? policy?.permissions.mode ?? "default",
          partialMessages: command.partialMessages === true,
        },
      },
      host,
    );
  if (found !== undefined) {
    const cost = resumeCost(await runner.sessions.get(found.id), host.now(), access.models);
    if (cost !== undefined) host.stderr.write(`keelson: session ${found.id} ${resumeCostLine(cost)}\n`);
  }
  if (found?.open) {
    checkResumable(command, found, task);
    const resumed = await runner.resume(found.id);
    if (command.agent.model !== undefined)
      resumed.setModel(command.agent.model).catch((error: unknown) => void host.stderr.write(`keelson: ${String(error)}\n`));
    return await print(resumed);
  }
  if (task === undefined && !isStreamed)
    throw new UsageError("there is no task", "Give it as an argument (keelson -p 'fix the build') or on standard input.");
  const tags = folderTags(launch.cwd, stores.home.path);
  const session =
    found === undefined ? await newSession(runner, tags) : command.fork ? await forkSession(runner, found.id, tags) : found.id;
  worktree.keep();
  history.mark(session);
  // Watched from the same moment on, so that no event is missed.
  const folders = { home: stores.home.path, userHome: userHome(host.environment), project: repository };
  const limits = { onBudget: launch.agent.onBudget ?? "end" };
  const start = async (text: string): Promise<number> =>
    print(
      runner.run(await expandTask(text, folders, trust), {
        session,
        model: launch.agent.model,
        limits,
        metadata: launchToMetadata(launch),
      }),
    );
  if (!isStreamed) return await start(task ?? "");
  let code = 0;
  for await (const text of messageLines(host.stdin)) {
    code = await start(text);
    // A run that waits must be answered before there can be another in its session.
    if (code === EXIT_CODES["awaiting-approval"]) break;
  }
  return code;
}

/** A run that goes on gets no new task and no other terms. */
function checkResumable({ agent }: RunCommand, { id }: FoundSession, task: string | undefined): void {
  if (task !== undefined) {
    throw new UsageError(
      `session ${id} has a run that is not finished`,
      `Go on with it first, without a task: keelson -p -r ${id}. Or leave it as it is and work in a copy: add --fork.`,
    );
  }
  const { model: _model, rules, ...others } = agent;
  if (rules.length > 0 || Object.keys(others).length > 0) {
    throw new UsageError(
      `the run of session ${id} goes on with the permissions and limits it was started with`,
      "Leave those options away. Only --model can be changed.",
    );
  }
}

/** `-r` alone. @returns `undefined` when the person leaves without choosing */
async function chooseOne(
  command: RunCommand,
  { stores, models, interactive }: { readonly stores: Stores; readonly models: ModelRegistry; readonly interactive: boolean },
  host: CommandHost,
): Promise<RunCommand | undefined> {
  const folder = await workingFolder(host, command.cwd);
  const kept = openSessionRunner(stores).sessions;
  const sessions = await listSessions(kept, folder);
  if (sessions.length === 0) throw noSession(folder);
  if (!interactive)
    throw new UsageError(
      "-r needs the id of a session where nobody is there to choose one",
      "keelson sessions list shows them; -c takes the newest.",
    );
  const describe = async ({ id, damaged }: ListedSession): Promise<string | undefined> => {
    const cost = damaged === undefined ? resumeCost(await kept.get(id), host.now(), models) : undefined;
    return cost && resumeCostLine(cost);
  };
  const id = await chooseSession(sessions, describe, host);
  return id === undefined ? undefined : { ...command, session: { type: "named", id } };
}

const denyAll: Approver = ({ operation }) => ({
  type: "deny",
  by: "keelson --on-approval deny",
  reason: `nobody is there to ask whether ${operation} may run this; work without it, or say what is needed`,
});
