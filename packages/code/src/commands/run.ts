import type { ModelRegistry } from "keelson/providers";
import { openSessionRunner } from "../core/session-runner.ts";
import { policyAt } from "../core/agent-permissions.ts";
import { openModels } from "../core/model-access.ts";
import { forkSession } from "../core/new-session.ts";
import { readProjectRules } from "../core/project-rules.ts";
import { secretNotices } from "../core/secret-notice.ts";
import { noSandboxLine, settleSandbox } from "../core/settle-sandbox.ts";
import { readTask } from "../core/read-task.ts";
import { type ListedSession, listSessions } from "../core/listed-session.ts";
import { resumeCost } from "../core/resume-cost.ts";
import type { CommandHost } from "../core/command-host.ts";
import { openStores, type Stores } from "../core/stores.ts";
import { repositoryRoot } from "../instructions/index.ts";
import type { RunCommand } from "../options/command-line.ts";
import { findSession, noSession, planLaunch, workingFolder } from "./plan-launch.ts";
import { folderTags, newestSession } from "../core/session-folder.ts";
import { UsageError } from "../options/usage-error.ts";
import { printable } from "../text/printable.ts";
import { resumeCostLine } from "../render/resume-cost-line.ts";
import { trustedLine } from "../render/trust-lines.ts";
import { findUntrusted } from "../trust/project-items.ts";
import { createProjectTrust, trustAll, trustItems } from "../trust/project-trust.ts";
import { runUnattended } from "./run-unattended.ts";
import { ownWorktreeAt } from "../worktrees/own-worktrees.ts";
import { openWorktreeOfRun } from "../worktrees/worktree-of-run.ts";

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
  const parts = {
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
    const { askTrust } = await import("../modes/ask-trust.ts");
    if (untrusted.length > 0 && (await askTrust(untrusted, host))) {
      await trustItems(stores.home, repository, untrusted, host.now());
      host.stdout.write(`${trustedLine(untrusted)}\n`);
      // Settings that are trusted now may name another model.
      launch = { ...launch, agent: (await planLaunch(command, found, access, stores, host)).agent };
    }
    const forked =
      found && command.fork ? await forkSession(openSessionRunner(stores), found.id, folderTags(launch.cwd, stores.home.path)) : found?.id;
    if (forked !== undefined) worktree.keep();
    // The editor of the terminal is a tenth of a second of imports, which a run without a person does not need.
    const { converse } = await import("../modes/interactive.ts");
    return await converse({ ...parts, launch, notices, trust, session: forked, resume: found?.open === true, task }, host);
  }
  return await runUnattended({ command, parts, found, task, trust, notices, worktree }, host);
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
  const { chooseSession } = await import("../modes/choose-session.ts");
  const id = await chooseSession(sessions, describe, host);
  return id === undefined ? undefined : { ...command, session: { type: "named", id } };
}
