import { realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { AgentError, type Approver, type SessionId, sessionLog } from "@keelson/protocol";
import type { Run } from "keelson";
import { foldSession, modelSetSince } from "keelson/session";
import { openSessionRunner } from "../core/session-runner.ts";
import { homePolicy, policyAt } from "../core/agent-permissions.ts";
import { checkSandbox, createCodingExecutor } from "../core/coding-executor.ts";
import { createCodingRunner } from "../core/coding-runner.ts";
import { type Launch, launchFromMetadata, launchToMetadata, mergedOptions } from "../core/launch.ts";
import { accessVariable, type ModelAccess, openModels, VENDORS } from "../core/model-access.ts";
import { forkSession, newSession } from "../core/new-session.ts";
import { readProjectRules } from "../core/project-rules.ts";
import { readTask } from "../core/read-task.ts";
import { listSessions, sessionNamed } from "../core/listed-session.ts";
import { newestSession } from "../core/session-folder.ts";
import type { CommandHost } from "../core/command-host.ts";
import { openStores, type Stores } from "../core/stores.ts";
import { repositoryRoot } from "../instructions/index.ts";
import { askTrust } from "../modes/ask-trust.ts";
import { chooseSession } from "../modes/choose-session.ts";
import { converse } from "../modes/interactive.ts";
import { printRun } from "../modes/print.ts";
import type { AgentOptions, RunCommand } from "../options/command-line.ts";
import { UsageError } from "../options/usage-error.ts";
import { leftOutLine } from "../render/trust-lines.ts";
import type { ProjectItem } from "../trust/project-item.ts";
import { findUntrusted } from "../trust/project-items.ts";
import { createProjectTrust, trustAll, trustItems } from "../trust/project-trust.ts";
import { openTrustedProject } from "../trust/trusted-project.ts";

/** Works on a task: one response for a program or a reader, or a conversation in a terminal. @returns the exit code */
export async function run(command: RunCommand, host: CommandHost): Promise<number> {
  const interactive = !command.print && host.stdin.isTTY === true && host.stdout.isTTY === true;
  const task = interactive ? command.task : await readTask(command, host);
  // Everything below is awaited here: what is opened is closed when this function is left.
  await using stores = await openStores(host.environment);
  const access = await openModels(host.environment);
  const chosen = command.session.type === "choose" ? await chooseOne(command, stores, host, interactive) : command;
  if (chosen === undefined) return 0;
  const found = await findSession(chosen, stores, host);
  const launch = await planLaunch(command, found, access, stores, host);
  const policy = await policyAt(launch.agent.policy);
  if (launch.agent.sandbox === true) await checkSandbox(createCodingExecutor(launch.cwd, { sandbox: true, policy }));
  const project = await repositoryRoot(launch.cwd);
  const trust = command.trust ? trustAll(project) : createProjectTrust(stores.home, project);
  const options = { stores, models: access.models, launch, policy, projectRules: await readProjectRules(stores.home, launch.cwd) };
  if (interactive) {
    const untrusted = await findUntrusted(trust, launch.cwd);
    if (untrusted.length > 0 && (await askTrust(untrusted, host))) await trustItems(stores.home, project, untrusted, host.now());
    const forked = found && command.fork ? await forkSession(openSessionRunner(stores), found.id, launch.cwd) : found?.id;
    return await converse({ ...options, trust, session: forked, resume: found?.open === true, task }, host);
  }

  const leftOut = (item: ProjectItem): void =>
    void host.stderr.write(`keelson: ${leftOutLine([item], `${host.command} trust accept ${item.path}, or --trust for one run`)}\n`);
  const runner = createCodingRunner({
    ...options,
    project: await openTrustedProject(trust, leftOut),
    ...(command.onApproval === "deny" && { approvals: denyAll }),
  });
  const print = (begun: Run<unknown>): Promise<number> =>
    printRun(begun, { format: command.outputFormat, model: launch.agent.model }, host);
  if (found?.open) {
    checkResumable(command, found, task);
    const resumed = await runner.resume(found.id);
    if (command.agent.model !== undefined)
      resumed.setModel(command.agent.model).catch((error: unknown) => void host.stderr.write(`keelson: ${String(error)}\n`));
    return await print(resumed);
  }
  if (task === undefined)
    throw new UsageError("there is no task", "Give it as an argument (keelson -p 'fix the build') or on standard input.");
  const session =
    found === undefined ? await newSession(runner, launch.cwd) : command.fork ? await forkSession(runner, found.id, launch.cwd) : found.id;
  // Watched from the same moment on, so that no event is missed.
  return await print(runner.run(task, { session, model: launch.agent.model, metadata: launchToMetadata(launch) }));
}

interface FoundSession {
  readonly id: SessionId;
  /** It has a run that is suspended or was interrupted. */
  readonly open: boolean;
  readonly model: string | undefined;
  /** What somebody changed it to since its last run was started. */
  readonly setModel: string | undefined;
  readonly launch: ReturnType<typeof launchFromMetadata>;
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
async function chooseOne(command: RunCommand, stores: Stores, host: CommandHost, interactive: boolean): Promise<RunCommand | undefined> {
  const folder = await workingFolder(host.cwd, command.cwd);
  const sessions = await listSessions(openSessionRunner(stores).sessions, folder);
  if (sessions.length === 0) throw noSession(folder);
  if (!interactive)
    throw new UsageError(
      "-r needs the id of a session where nobody is there to choose one",
      "keelson sessions list shows them; -c takes the newest.",
    );
  const id = await chooseSession(sessions, host);
  return id === undefined ? undefined : { ...command, session: { type: "named", id } };
}

function noSession(folder: string): UsageError {
  return new UsageError(
    `there is no session of ${folder} to go on with`,
    "keelson sessions list --all shows the sessions of every folder.",
  );
}

async function findSession({ session, fork, cwd }: RunCommand, stores: Stores, host: CommandHost): Promise<FoundSession | undefined> {
  if (session.type === "new" || session.type === "choose") return undefined;
  const folder = await workingFolder(host.cwd, cwd);
  const id =
    session.type === "named" ? ((await sessionNamed(stores.log, session.id)) as SessionId) : await newestSession(stores.log, folder);
  if (id === undefined) throw noSession(folder);
  if ((await stores.log.head(sessionLog(id))) === 0)
    throw new AgentError({
      kind: "session",
      session: id,
      message: `There is no session "${id}". Run keelson sessions list --all to see which there are.`,
    });
  const state = await foldSession(stores.log, stores.blobs, id);
  const { run } = state;
  const known = { model: run?.model, setModel: await modelSetSince(stores.log, state), launch: launchFromMetadata(run?.metadata) };
  return { id, open: run !== undefined && run.status !== "ended" && !fork, ...known };
}

/**
 * A run that goes on is the run it was: its folder, permissions and limits are part of its log.
 * A new run in an old session takes over only the folder and the model: yesterday's permissions were for yesterday's task.
 */
async function planLaunch(
  command: RunCommand,
  found: FoundSession | undefined,
  access: ModelAccess,
  { home }: Stores,
  host: CommandHost,
): Promise<Launch> {
  const recorded = found?.launch?.agent ?? { rules: [] };
  const last = found?.setModel ?? recorded.model;
  const inherited: AgentOptions = { ...(found?.open ? recorded : { rules: [] }), ...(last !== undefined && { model: last }) };
  const given = found?.open ? command.agent : await confinementOf(command.agent, home, host);
  const options = mergedOptions(inherited, given);
  const model = options.model ?? found?.model ?? (await access.defaultModel());
  if (model === undefined) throw noModel(access);
  // Found out now, as a usage error, rather than in the middle of a run.
  for (const reference of [model, options.fallbackModel]) if (reference !== undefined) checkModel(access, reference);
  const cwd = found?.launch !== undefined && command.cwd === undefined ? found.launch.cwd : await workingFolder(host.cwd, command.cwd);
  return { cwd, agent: { ...options, model } };
}

/** What a person set for every run holds where the command says nothing of it. */
async function confinementOf(agent: AgentOptions, home: Stores["home"], { cwd, environment }: CommandHost): Promise<AgentOptions> {
  const policy = agent.policy === undefined ? await homePolicy(home) : resolve(cwd, agent.policy);
  const sandbox = agent.sandbox ?? ![undefined, "", "0", "false"].includes(environment["KEELSON_SANDBOX"]);
  return { ...agent, ...(policy !== undefined && { policy }), ...(sandbox && { sandbox }) };
}

function checkModel({ models }: ModelAccess, reference: string): void {
  try {
    models.resolve(reference);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), keyHint());
  }
}

function noModel({ models }: ModelAccess): UsageError {
  const there = Object.keys(models.providers);
  return there.length === 0
    ? new UsageError("there is no key for a model", keyHint())
    : new UsageError("no model was named", `Add --model ${there[0]}/<id>. For one that is taken without being named: ${keyHint()}`);
}

function keyHint(): string {
  return `Set ${VENDORS.map(accessVariable).join(" or ")} (and --model provider/id for another model than the default). keelson doctor says what is there.`;
}

async function workingFolder(from: string, given: string | undefined): Promise<string> {
  const folder = resolve(from, given ?? ".");
  const found = await stat(folder).catch(() => undefined);
  if (!found?.isDirectory()) throw new UsageError(`${folder} is no folder`, "Give -C a folder that exists.");
  return realpath(folder);
}

const denyAll: Approver = ({ operation }) => ({
  type: "deny",
  by: "keelson --on-approval deny",
  reason: `nobody is there to ask whether ${operation} may run this; work without it, or say what is needed`,
});
