import type { Home } from "../core/home.ts";
import type { KnownSecrets } from "../core/known-secrets.ts";
import { workingFolders } from "../core/working-folders.ts";
import { createFileHistory, type ToolHistory } from "../history/index.ts";
import { type ServersOfRuns, serversOfRuns } from "../servers/servers-of-runs.ts";
import { userHome } from "../settings/settings-places.ts";
import { markdownCommands } from "../slash-commands/find-markdown-commands.ts";
import type { SlashCommand } from "../slash-commands/slash-command.ts";
import type { ProjectItem } from "../trust/project-item.ts";
import { openTrustedProject, type TrustedProject } from "../trust/trusted-project.ts";
import type { SessionPlan } from "./session-plan.ts";

/** The settings, hooks, skills, servers, commands and the file history of a folder, for the sessions that work in it. */
export interface Workplace extends AsyncDisposable {
  readonly project: TrustedProject;
  readonly servers: ServersOfRuns;
  readonly history: ToolHistory;
  /** The commands of Markdown files. */
  readonly commands: readonly SlashCommand[];
  /** The items of the project that are not trusted, by path, as they were when they were left out. */
  readonly leftOut: Map<string, ProjectItem>;
  /** The problems that were found when it was opened. */
  readonly problems: readonly string[];
  /** True if sessions with this plan can work in it. */
  isFor(plan: SessionPlan): boolean;
}

export interface WorkplaceOptions {
  readonly home: Home;
  readonly secrets: KnownSecrets;
  readonly environment: { readonly [name: string]: string | undefined };
  /** Unix ms. */
  readonly now: () => number;
  /** Called for each item that is left out after the workplace was opened. */
  onLeftOut(item: ProjectItem): void;
  /** Called for each problem after it was opened. */
  onProblem(message: string): void;
}

/** Opens the workplace of a plan, and starts its servers. */
export async function openWorkplace(
  plan: SessionPlan,
  { home, secrets, environment, now, onLeftOut, onProblem }: WorkplaceOptions,
): Promise<Workplace> {
  const { launch, policy, trust } = plan;
  const leftOut = new Map<string, ProjectItem>();
  const problems: string[] = [];
  let isOpen = false;
  const keep = (item: ProjectItem): void => {
    leftOut.set(item.path, item);
    if (isOpen) onLeftOut(item);
  };
  const report = (message: string): void => {
    if (isOpen) onProblem(message);
    else problems.push(message);
  };
  const project = await openTrustedProject(trust, { policy, secrets, home, environment, onProblem: report, onLeftOut: keep });
  const servers = await serversOfRuns({
    ...{ launch, policy, home, trust, environment },
    startupWaitMs: 0,
    onLeftOut: keep,
    onProblem: report,
  });
  try {
    const folders = { home: home.path, userHome: userHome(environment), project: trust.project };
    const commands = await markdownCommands(folders, trust, keep);
    const history = createFileHistory({
      ...{ home: home.path, cwd: launch.cwd, environment, now },
      folders: workingFolders(launch, project),
      onProblem: report,
    });
    servers.start();
    isOpen = true;
    const key = placeKey(plan);
    return {
      ...{ project, servers, history, commands, leftOut, problems },
      isFor: (other) => placeKey(other) === key,
      [Symbol.asyncDispose]: () => servers[Symbol.asyncDispose](),
    };
  } catch (error) {
    await servers[Symbol.asyncDispose]();
    throw error;
  }
}

/** Returns a text that differs between plans that need different workplaces. */
function placeKey({ launch: { cwd, agent }, trust }: SessionPlan): string {
  const { folders = [], policy, sandbox, mcp, mcpConfig } = agent;
  return JSON.stringify([cwd, trust.project, trust.trustsAll === true, folders, policy, sandbox, mcp, mcpConfig]);
}
