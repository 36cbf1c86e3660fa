import type { ModelRegistry } from "keelson/providers";
import type { CommandHost } from "../core/command-host.ts";
import { type ListedSession, listSessions } from "../core/listed-session.ts";
import { openModels } from "../core/model-access.ts";
import { forkSession } from "../core/new-session.ts";
import { readTask } from "../core/read-task.ts";
import { resumeCost } from "../core/resume-cost.ts";
import { folderTags, newestSession } from "../core/session-folder.ts";
import { openSessionRunner } from "../core/session-runner.ts";
import { openStores, type Stores } from "../core/stores.ts";
import { repositoryRoot } from "../instructions/index.ts";
import type { RunCommand } from "../options/command-line.ts";
import { UsageError } from "../options/usage-error.ts";
import { resumeCostLine } from "../render/resume-cost-line.ts";
import { trustedLine } from "../render/trust-lines.ts";
import { type TerminalSettings, terminalSettings } from "../settings/terminal-settings.ts";
import { printable } from "../text/printable.ts";
import { findUntrusted } from "../trust/project-items.ts";
import { createProjectTrust, trustItems } from "../trust/project-trust.ts";
import { openWorktreeOfRun } from "../worktrees/worktree-of-run.ts";
import { findSession, noSession, planLaunch, workingFolder } from "./plan-launch.ts";
import { createSessionPlanner, planSession } from "./plan-session.ts";
import { runUnattended } from "./run-unattended.ts";

/** Works on a task: one response for a program or a reader, or a conversation in a terminal. @returns the exit code */
export async function run(given: RunCommand, host: CommandHost): Promise<number> {
  let command = given;
  const interactive = !command.print && host.stdin.isTTY === true && host.stdout.isTTY === true;
  const isStreamed = command.inputFormat === "stream-json";
  const task = interactive || isStreamed ? command.task : await readTask(command, host);
  // Everything below is awaited here: what is opened is closed when this function is left.
  await using stores = await openStores(host.environment);
  const access = await openModels(host.environment);
  if (command.session.type === "choose") {
    const chosen = await chooseOne(command, { stores, models: access.models, interactive }, host);
    if (chosen === undefined) return 0;
    command = chosen;
  }
  const found = await findSession(command, stores, host);
  await using worktree = await openWorktreeOfRun({
    wanted: command.worktree,
    folder: command.worktree === undefined ? host.cwd : await workingFolder(host, command.cwd),
    ...{ home: stores.home.path, environment: host.environment, now: host.now() },
    isUsed: async (cwd) => (await newestSession(stores.log, cwd)) !== undefined,
    tell: (lines) => void (interactive ? host.stdout : host.stderr).write(`${lines.map(printable).join("\n")}\n`),
  });
  const isInNewWorktree = worktree.cwd !== undefined;
  if (worktree.cwd !== undefined) command = { ...command, cwd: worktree.cwd };
  let plan = await planSession(
    command,
    found,
    { access, stores, isInNewWorktree, onFolder: worktree.enter, presentsPlans: interactive },
    host,
  );
  plan = { ...plan, notices: [...worktree.notices, ...plan.notices] };
  const { launch, policy, trust, notices, projectRules } = plan;
  const { models, secrets } = access;
  if (!interactive)
    return await runUnattended(
      { command, parts: { stores, models, secrets, launch, policy, projectRules }, found, task, trust, notices, worktree },
      host,
    );
  const brought = await findUntrusted(trust, { cwd: launch.cwd, environment: host.environment });
  const untrusted = brought.filter(({ kind }) => kind !== "server" || launch.agent.mcp !== false);
  const terminal = await terminalOf(command, stores, host);
  const { askTrust } = await import("../modes/ask-trust.ts");
  if (untrusted.length > 0 && (await askTrust(untrusted, terminal.screenReader, dialogHost(host, terminal)))) {
    await trustItems(stores.home, trust.project, untrusted, host.now());
    host.stdout.write(`${trustedLine(untrusted)}\n`);
    // Settings that are trusted now may name another model.
    plan = { ...plan, launch: { ...launch, agent: (await planLaunch(command, found, access, stores, host)).agent } };
  }
  const session =
    found && command.fork ? await forkSession(openSessionRunner(stores), found.id, folderTags(launch.cwd, stores.home.path)) : found?.id;
  if (session !== undefined) worktree.keep();
  const planner = createSessionPlanner({ command, cwd: launch.cwd, access, stores }, host);
  // The editor of the terminal is a tenth of a second of imports, which a run without a person does not need.
  const { converse } = await import("../modes/interactive.ts");
  return await converse({ stores, models, secrets, plan: { ...plan, session }, planner, terminal, task }, host);
}

/** The choices of the person for their terminal; nothing that a project brings is one of them. */
async function terminalOf(
  { screenReader, cwd }: Pick<RunCommand, "screenReader" | "cwd">,
  { home }: Stores,
  host: CommandHost,
): Promise<TerminalSettings> {
  const { environment } = host;
  const trust = createProjectTrust(home, await repositoryRoot(await workingFolder(host, cwd)));
  return terminalSettings({ home: home.path, environment, trust }, { screenReader });
}

/** Returns the host for dialogs before the conversation, which have no colours if the theme has none. */
function dialogHost(host: CommandHost, { theme }: Pick<TerminalSettings, "theme">): CommandHost {
  return theme === "none" ? { ...host, environment: { ...host.environment, NO_COLOR: "1" } } : host;
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
  const terminal = await terminalOf(command, stores, host);
  const { screenReader } = terminal;
  // A list in a terminal also shows the sessions of other folders.
  const isAny = sessions.length > 0 || (interactive && !screenReader && (await kept.list()).length > 0);
  if (!isAny) throw noSession(folder);
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
  const { pickSession } = await import("../modes/pick-session.ts");
  const id = screenReader
    ? await chooseSession(sessions, describe, dialogHost(host, terminal))
    : await pickSession({ folder, sessions, everywhere: () => listSessions(kept) }, dialogHost(host, terminal));
  if (id === undefined) return undefined;
  // A session of another folder goes on in that folder.
  const { cwd: _, ...elsewhere } = command;
  return { ...(sessions.some((session) => session.id === id) ? command : elsewhere), session: { type: "named", id } };
}
