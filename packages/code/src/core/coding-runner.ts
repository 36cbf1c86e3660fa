import type { Approver, Executor, PermissionRule, Tool, ToolSource } from "@keelson/protocol";
import { createAgent, createRunner, type Agent, type SingleRunner } from "keelson";
import { type Policy, redactEventLog, redactExecutor, redactToolSource } from "keelson/security";
import type { ModelRegistry } from "keelson/providers";
import type { Schema } from "keelson/tools";
import { createFileHistory, type ToolHistory } from "../history/index.ts";
import { type InstructionFile, readAgentsMd } from "../instructions/index.ts";
import { createCodingTools } from "../tools/index.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { AGENT_NAME } from "./agent-name.ts";
import { agentPermissions } from "./agent-permissions.ts";
import { createCodingWorkspace } from "./coding-workspace.ts";
import { createCodingExecutors, sandboxLines, withOutside } from "./coding-executor.ts";
import { commandEnvironment, withheldLines } from "./command-environment.ts";
import { COMPACTION } from "./compaction.ts";
import type { KnownSecrets } from "./known-secrets.ts";
import type { Launch } from "./launch.ts";
import { withNestedInstructions } from "./nested-instructions.ts";
import type { ProjectRule } from "./project-rules.ts";
import { withoutSecretEvents, withoutSecretValues } from "./secret-redaction.ts";
import { createPlanModeRule } from "./plan-mode-rule.ts";
import { systemPrompt } from "./system-prompt.ts";
import type { Stores } from "./stores.ts";
import { createTaskListRule } from "./task-list-rule.ts";
import { workingFolders } from "./working-folders.ts";
import type { TrustedProject } from "../trust/trusted-project.ts";

export type CodingRunner = SingleRunner;

export interface CodingRunnerOptions {
  readonly stores: Stores;
  readonly models: ModelRegistry;
  /** Taken out of what tools return, and of what is shown and kept. */
  readonly secrets: KnownSecrets;
  readonly launch: Launch;
  /** What is always allowed in this project; no part of the launch, so that it ends when it is taken back. */
  readonly projectRules?: readonly ProjectRule[];
  /** What the project itself brings. */
  readonly project: TrustedProject;
  /** Of `launch.agent.policy`, read. */
  readonly policy?: Policy | undefined;
  /** Where tools come from beside those of the agent itself. */
  readonly toolSources?: readonly ToolSource[];
  readonly approvals?: Approver;
  /** Keeps what tools change in the project, for undo. Default: the history of the project under the folder of Keelson. */
  readonly history?: ToolHistory | undefined;
  /** How long a person in this process is waited for before the run suspends. */
  readonly approvalWaitMs?: number;
  /** Called once with the executors of the agent's commands, which know those that run in the background. */
  readonly onExecutors?: (executors: readonly Executor[]) => void;
}

/** The coding agent at work in one folder, bound to the sessions of this machine. */
export function createCodingRunner({
  stores,
  models,
  secrets,
  launch,
  projectRules = [],
  project,
  policy,
  toolSources = [],
  approvals,
  approvalWaitMs,
  onExecutors = () => {},
  history = createFileHistory({ home: stores.home.path, cwd: launch.cwd, folders: workingFolders(launch, project) }),
}: CodingRunnerOptions): CodingRunner {
  const sources = project.skills === undefined ? toolSources : [...toolSources, project.skills];
  const tools = createAgentTools(launch, { policy, project, projectRules, stores, secrets }, onExecutors);
  const workspaceOf = createCodingWorkspace({ cwd: launch.cwd, folders: workingFolders(launch, project), history, tools });
  const runner = createRunner({
    agent: createCodingAgent(launch, { projectRules, policy, project, tools, toolSources: sources, stores, secrets }),
    context: ({ session }) => workspaceOf(session),
    models,
    log: redactEventLog(stores.log, secrets.redactor),
    blobs: stores.blobs,
    approvalKeys: stores.keys,
    ...(approvals && { approvals }),
    ...(approvalWaitMs !== undefined && { approvalWaitMs }),
  });
  return withoutSecretEvents(runner, secrets.redactor);
}

interface AgentParts {
  readonly projectRules: readonly ProjectRule[];
  readonly policy: Policy | undefined;
  readonly project: TrustedProject;
  readonly stores: Stores;
  readonly secrets: KnownSecrets;
}

function permissionsOf({ agent }: Launch, { policy, project, projectRules }: AgentParts): ReturnType<typeof agentPermissions> {
  return agentPermissions(agent, policy, projectRules, { ...project.settings, folders: workingFolders({ agent }, project) });
}

/** The tools of the agent, which show no secrets, and tell the instructions of folders that they come to. */
function createAgentTools(
  launch: Launch,
  parts: AgentParts,
  onExecutors: (executors: readonly Executor[]) => void,
): readonly Tool<unknown, Workspace>[] {
  const { cwd, inSandbox = false, presentsPlans } = launch;
  const {
    policy,
    project,
    stores: { home, blobs },
    secrets,
  } = parts;
  const made = createCodingExecutors(cwd, {
    sandbox: inSandbox,
    policy,
    rules: permissionsOf(launch, parts).rules,
    variables: project.settings.variables,
    folders: workingFolders(launch, project),
    home: home.path,
  });
  const exec = redactExecutor(made.exec, secrets.redactor);
  const leaving = made.leaving && withOutside(made.leaving, redactExecutor(made.leaving.outside, secrets.redactor));
  onExecutors([exec, ...(leaving === undefined ? [] : [leaving.outside])]);
  const isTrusted = (file: InstructionFile): Promise<boolean> => project.usesInstructions(file);
  return withoutSecretValues(
    withNestedInstructions(createCodingTools({ exec, leaving, blobs, presentsPlans }), { cwd, isTrusted }),
    secrets,
  );
}

function createCodingAgent(
  launch: Launch,
  {
    tools,
    toolSources,
    ...parts
  }: AgentParts & { readonly tools: readonly Tool<unknown, Workspace>[]; readonly toolSources: readonly ToolSource[] },
): Agent<unknown, Workspace> {
  const { cwd, agent, inSandbox: sandbox = false, facts, presentsPlans: canPresent = false } = launch;
  const {
    policy,
    project,
    stores: { home },
    secrets,
  } = parts;
  const isTrusted = (file: InstructionFile): Promise<boolean> => project.usesInstructions(file);
  const { model, fallbackModel, effort, maxTurns, maxCost, timeoutMs } = agent;
  const given = permissionsOf(launch, parts);
  const permissions = { ...given, rules: withoutForeignTools(given.rules, project.settings.rules, tools) };
  return createAgent({
    name: AGENT_NAME,
    model,
    ...(effort !== undefined && { effort }),
    ...(fallbackModel !== undefined && { fallbackModel }),
    ...(agent.outputSchema !== undefined && { output: agent.outputSchema as unknown as Schema<undefined> }),
    instructions: async function codingInstructions() {
      const projectInstructions = await readAgentsMd({ cwd, home: home.path, userHome: project.userHome, isTrusted });
      const variables = withheldLines(commandEnvironment(policy, { sandbox }));
      const appended = agent.appendSystemPrompt;
      return systemPrompt({ cwd, facts, appended, projectInstructions, variables, ...(sandbox && { sandbox: sandboxLines(cwd, policy) }) });
    },
    tools,
    ...(toolSources.length > 0 && { toolSources: toolSources.map((source) => redactToolSource(source, secrets.redactor)) }),
    ...(project.hooks && { hooks: project.hooks }),
    limits: {
      ...(maxTurns !== undefined && { maxTurns }),
      ...(maxCost !== undefined && { maxCost }),
      ...(timeoutMs !== undefined && { maxDurationMs: timeoutMs }),
    },
    compaction: COMPACTION,
    rules: [createPlanModeRule({ canPresent }), createTaskListRule()],
    permissions,
    cwd,
  });
}

/** Returns the rules without those of settings that are about no tool of this agent: a file of another program must not keep a run from starting. */
function withoutForeignTools(
  rules: readonly PermissionRule[],
  ofSettings: readonly PermissionRule[],
  tools: readonly Pick<Tool, "name">[],
): readonly PermissionRule[] {
  const names = new Set([...tools.map(({ name }) => name), "web_fetch"]);
  return rules.filter((rule) => {
    const [name = ""] = rule.pattern.split("(", 1);
    return !ofSettings.includes(rule) || names.has(name) || /[*?]/.test(name) || /^mcp(?:__|:)/.test(name);
  });
}
