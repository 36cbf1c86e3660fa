import { type Approver, EXIT_CODES } from "@keelson/protocol";
import type { Run } from "keelson";
import { type CodingRunnerOptions, createCodingRunner } from "../core/coding-runner.ts";
import type { CommandHost } from "../core/command-host.ts";
import { launchToMetadata } from "../core/launch.ts";
import { forkSession, newSession } from "../core/new-session.ts";
import { folderTags } from "../core/session-folder.ts";
import { resumeCost } from "../core/resume-cost.ts";
import { workingFolders } from "../core/working-folders.ts";
import { createFileHistory } from "../history/index.ts";
import { messageLines } from "../modes/message-lines.ts";
import { printRun } from "../modes/print.ts";
import type { RunCommand } from "../options/command-line.ts";
import { UsageError } from "../options/usage-error.ts";
import { printable } from "../text/printable.ts";
import { resumeCostLine } from "../render/resume-cost-line.ts";
import { leftOutLine } from "../render/trust-lines.ts";
import { serversOfRuns, UNATTENDED_WAIT_MS } from "../servers/servers-of-runs.ts";
import { userHome } from "../settings/settings-places.ts";
import { expandTask } from "../slash-commands/find-markdown-commands.ts";
import type { ProjectItem } from "../trust/project-item.ts";
import type { ProjectTrust } from "../trust/project-trust.ts";
import { openTrustedProject } from "../trust/trusted-project.ts";
import type { WorktreeOfRun } from "../worktrees/worktree-of-run.ts";
import type { FoundSession } from "./plan-launch.ts";

export interface UnattendedRun {
  readonly command: RunCommand;
  readonly parts: Pick<CodingRunnerOptions, "stores" | "models" | "secrets" | "launch" | "policy" | "projectRules">;
  /** The session to continue. `undefined`: a new one. */
  readonly found: FoundSession | undefined;
  readonly task: string | undefined;
  readonly trust: ProjectTrust;
  /** Lines for the person, before anything is done. */
  readonly notices: readonly string[];
  readonly worktree: WorktreeOfRun;
}

/** Works on tasks without a person at a terminal, and prints what a program or a reader wants. @returns the exit code */
export async function runUnattended(
  { command, parts, found, task, trust, notices, worktree }: UnattendedRun,
  host: CommandHost,
): Promise<number> {
  const { stores, models, secrets, launch, policy } = parts;
  for (const notice of notices) host.stderr.write(`keelson: ${printable(notice)}\n`);
  const leftOut = (item: ProjectItem): void =>
    void host.stderr.write(`keelson: ${leftOutLine([item], `${host.command} trust accept ${item.path}, or --trust for one run`)}\n`);
  const reportProblem = (message: string): void => void host.stderr.write(`keelson: ${printable(message)}\n`);
  await using servers = await serversOfRuns({
    ...parts,
    home: stores.home,
    trust,
    environment: host.environment,
    startupWaitMs: UNATTENDED_WAIT_MS,
    onLeftOut: leftOut,
    onProblem: reportProblem,
  });
  const project = await openTrustedProject(trust, {
    policy,
    secrets,
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
    ...parts,
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
    const cost = resumeCost(await runner.sessions.get(found.id), host.now(), models);
    if (cost !== undefined) host.stderr.write(`keelson: session ${found.id} ${resumeCostLine(cost)}\n`);
  }
  if (found?.open) {
    checkResumable(command, found, task);
    const resumed = await runner.resume(found.id);
    if (command.agent.model !== undefined)
      resumed.setModel(command.agent.model).catch((error: unknown) => void host.stderr.write(`keelson: ${String(error)}\n`));
    return await print(resumed);
  }
  const isStreamed = command.inputFormat === "stream-json";
  if (task === undefined && !isStreamed)
    throw new UsageError("there is no task", "Give it as an argument (keelson -p 'fix the build') or on standard input.");
  const tags = folderTags(launch.cwd, stores.home.path);
  const session =
    found === undefined ? await newSession(runner, tags) : command.fork ? await forkSession(runner, found.id, tags) : found.id;
  worktree.keep();
  history.mark(session);
  // Watched from the same moment on, so that no event is missed.
  const folders = { home: stores.home.path, userHome: userHome(host.environment), project: trust.project };
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

const denyAll: Approver = ({ operation }) => ({
  type: "deny",
  by: "keelson --on-approval deny",
  reason: `nobody is there to ask whether ${operation} may run this; work without it, or say what is needed`,
});
