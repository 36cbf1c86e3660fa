import { Writable } from "node:stream";
import { policyAt } from "../core/agent-permissions.ts";
import type { CommandHost } from "../core/command-host.ts";
import type { ModelAccess } from "../core/model-access.ts";
import { readProjectRules } from "../core/project-rules.ts";
import { secretNotices } from "../core/secret-notice.ts";
import { noSandboxLine, settleSandbox } from "../core/settle-sandbox.ts";
import type { Stores } from "../core/stores.ts";
import { repositoryRoot } from "../instructions/index.ts";
import type { SessionPlan, SessionPlanner, WantedSession } from "../modes/session-plan.ts";
import type { AgentOptions, RunCommand } from "../options/command-line.ts";
import { findingLines } from "../render/finding-lines.ts";
import { createProjectTrust, trustAll } from "../trust/project-trust.ts";
import { ownWorktreeAt } from "../worktrees/own-worktrees.ts";
import { type FoundSession, findSession, planLaunch } from "./plan-launch.ts";

type PlannedCommand = Pick<RunCommand, "agent" | "cwd" | "trust">;

export interface PlanSessionOptions {
  readonly access: ModelAccess;
  readonly stores: Stores;
  /** Called with the folder of the session as soon as it is known. */
  readonly onFolder?: (cwd: string) => void;
  /** True if a worktree was made for it, which says so itself. */
  readonly isInNewWorktree?: boolean;
  /** True if a person is there to accept plans. A run that goes on keeps what it was started with. */
  readonly presentsPlans?: boolean;
}

/** Plans a session: its launch, whether its commands run in a sandbox, what of its project is used. */
export async function planSession(
  command: PlannedCommand,
  found: FoundSession | undefined,
  { access, stores, onFolder = () => {}, isInNewWorktree = false, presentsPlans = false }: PlanSessionOptions,
  host: CommandHost,
): Promise<SessionPlan> {
  const { home } = stores;
  const planned = await planLaunch(command, found, access, stores, host);
  onFolder(planned.cwd);
  const policy = await policyAt(planned.agent.policy);
  const { launch: settled, problem } = await settleSandbox(planned, policy);
  const launch = presentsPlans && found?.open !== true ? { ...settled, presentsPlans: true as const } : settled;
  const own = found === undefined || isInNewWorktree ? undefined : ownWorktreeAt(launch.cwd, home.path);
  const notices = [
    ...(own === undefined ? [] : [`the session goes on in the worktree ${own.name}: ${own.root}`]),
    ...(launch.inSandbox ? await secretNotices(home, launch.cwd, policy) : problem === undefined ? [] : [noSandboxLine(problem)]),
  ];
  const repository = await repositoryRoot(launch.cwd);
  const trust = command.trust ? trustAll(repository) : createProjectTrust(home, repository);
  const projectRules = await readProjectRules(home, launch.cwd);
  return { launch, policy, projectRules, notices, trust, session: found?.id, resume: found?.open === true };
}

export interface SessionPlannerOptions extends Pick<PlanSessionOptions, "access" | "stores"> {
  /** The command that the conversation was started with. Its options hold for every session, but for what a session says itself. */
  readonly command: RunCommand;
  /** The folder of the first session. */
  readonly cwd: string;
}

/** Plans the sessions that a person goes to in the middle of a conversation. */
export function createSessionPlanner({ command, cwd: first, access, stores }: SessionPlannerOptions, host: CommandHost): SessionPlanner {
  /** The trust that an option gave is for the project in which the conversation began. */
  async function isTrusted(folder: string): Promise<boolean> {
    return command.trust && (await repositoryRoot(folder)) === (await repositoryRoot(first));
  }

  return {
    async plan(wanted) {
      const said: string[] = [];
      // Lines on standard error would appear in the middle of the screen.
      const quiet: CommandHost = { ...host, stderr: collector(said) };
      const found = wanted.type === "new" ? undefined : await findSession({ session: wanted, fork: false }, stores, quiet);
      const folder = wanted.type === "new" ? wanted.cwd : (found?.launch?.cwd ?? found?.folder ?? first);
      const trust = await isTrusted(folder);
      const agent = optionsFor(wanted, found, command.agent);
      const planned = await planSession(
        { agent, trust, ...(wanted.type === "new" && { cwd: wanted.cwd }) },
        found,
        { access, stores, presentsPlans: true },
        quiet,
      );
      return { ...planned, notices: [...said, ...planned.notices] };
    },
    async findings(folder, view) {
      const { doctorFindings } = await import("./doctor.ts");
      return findingLines(await doctorFindings(folder, host, await isTrusted(folder)), view);
    },
  };
}

/** A run that is not finished goes on as it was started; a new run in a session that has a model keeps that model. */
function optionsFor({ type, terms }: WantedSession, found: FoundSession | undefined, given: AgentOptions): AgentOptions {
  if (found?.open === true) return { rules: [] };
  const { model: _model, effort: _effort, ...others } = given;
  const kept = { ...others, permissionMode: terms.mode };
  if (type === "named" && (found?.setModel ?? found?.launch?.agent.model ?? found?.model) !== undefined) return kept;
  return { ...kept, model: terms.model, ...(terms.effort !== undefined && { effort: terms.effort }) };
}

function collector(lines: string[]): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(
        chunk
          .toString()
          .trim()
          .replace(/^keelson: /, ""),
      );
      done();
    },
  });
}
