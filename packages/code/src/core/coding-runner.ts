import { delimiter, dirname } from "node:path";
import type { Approver } from "@keelson/protocol";
import { createAgent, createRunner, type Agent, type SingleRunner } from "keelson";
import { createDiskVfs, createProcessExecutor } from "keelson/environment";
import type { ModelRegistry } from "keelson/providers";
import { type InstructionFile, readAgentsMd } from "../instructions/index.ts";
import { createCodingTools } from "../tools/index.ts";
import { AGENT_NAME } from "./agent-name.ts";
import type { Launch } from "./launch.ts";
import { withNestedInstructions } from "./nested-instructions.ts";
import type { ProjectRule } from "./project-rules.ts";
import { systemPrompt } from "./system-prompt.ts";
import type { Stores } from "./stores.ts";
import type { TrustedProject } from "../trust/trusted-project.ts";

export type CodingRunner = SingleRunner;

export interface CodingRunnerOptions {
  readonly stores: Stores;
  readonly models: ModelRegistry;
  readonly launch: Launch;
  /** What is always allowed in this project; no part of the launch, so that it ends when it is taken back. */
  readonly projectRules?: readonly ProjectRule[];
  /** What the project itself brings. */
  readonly project: TrustedProject;
  readonly approvals?: Approver;
  /** How long a person in this process is waited for before the run suspends. */
  readonly approvalWaitMs?: number;
}

/** The coding agent at work in one folder, bound to the sessions of this machine. */
export function createCodingRunner({
  stores,
  models,
  launch,
  projectRules = [],
  project,
  approvals,
  approvalWaitMs,
}: CodingRunnerOptions): CodingRunner {
  return createRunner({
    agent: createCodingAgent(launch, { projectRules, project, stores }),
    models,
    log: stores.log,
    blobs: stores.blobs,
    approvalKeys: stores.keys,
    ...(approvals && { approvals }),
    ...(approvalWaitMs !== undefined && { approvalWaitMs }),
  });
}

function createCodingAgent(
  { cwd, agent }: Launch,
  {
    projectRules,
    project,
    stores: { home },
  }: { readonly projectRules: readonly ProjectRule[]; readonly project: TrustedProject; readonly stores: Stores },
): Agent {
  const isTrusted = (file: InstructionFile): Promise<boolean> => project.usesInstructions(file);
  const files = createDiskVfs({ root: cwd });
  // Commands find the Node that runs Keelson first, so that a project's `node` is one that there is.
  const path = [dirname(process.execPath), process.env["PATH"]].filter(Boolean).join(delimiter);
  const exec = createProcessExecutor({ cwd, env: { PATH: path } });
  const { model, fallbackModel, permissionMode, rules, maxTurns, maxCost, timeoutMs } = agent;
  return createAgent({
    name: AGENT_NAME,
    model,
    ...(fallbackModel !== undefined && { fallbackModel }),
    instructions: async function codingInstructions() {
      return systemPrompt({ cwd, projectInstructions: await readAgentsMd({ cwd, home: home.path, isTrusted }) });
    },
    tools: withNestedInstructions(createCodingTools({ files, exec }), { cwd, isTrusted }),
    ...(project.hooks && { hooks: project.hooks }),
    limits: {
      ...(maxTurns !== undefined && { maxTurns }),
      ...(maxCost !== undefined && { maxCost }),
      ...(timeoutMs !== undefined && { maxDurationMs: timeoutMs }),
    },
    permissions: {
      mode: permissionMode ?? "default",
      rules: [...rules, ...projectRules.map(({ pattern }) => ({ pattern, behavior: "allow" as const }))],
    },
    cwd,
  });
}
