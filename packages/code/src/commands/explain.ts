import { realpath } from "node:fs/promises";
import type { Executor, Tool } from "@keelson/protocol";
import { explainCall, type ExplainedCall } from "keelson/security";
import { agentPermissions, homePolicy, policyAt } from "../core/agent-permissions.ts";
import { createCodingExecutor } from "../core/coding-executor.ts";
import type { CommandHost } from "../core/command-host.ts";
import { givenPath } from "../core/given-path.ts";
import { createFileHistory } from "../history/index.ts";
import { openHome } from "../core/home.ts";
import { readProjectRules } from "../core/project-rules.ts";
import type { AgentOptions } from "../options/command-line.ts";
import { repositoryRoot } from "../instructions/index.ts";
import { loadSettings } from "../settings/load-settings.ts";
import { createProjectTrust } from "../trust/project-trust.ts";
import { explanationLines } from "../render/explanation-lines.ts";
import { createBashTool } from "../tools/bash.ts";
import type { BashContext, BashInput } from "../tools/bash-input.ts";

export interface ExplainOptions {
  readonly command: string;
  readonly agent: AgentOptions;
  readonly json: boolean;
  readonly cwd: string | undefined;
}

/** Tells what the agent may do with a command, and why; nothing is run. @returns the exit code */
export async function explain(
  { command, agent, json, cwd: given }: ExplainOptions,
  { cwd: from, environment, stdout }: CommandHost,
): Promise<number> {
  const cwd = await realpath(givenPath(from, given ?? ".", environment));
  const home = await openHome(environment);
  const policy = await policyAt(agent.policy === undefined ? await homePolicy(home) : givenPath(from, agent.policy, environment));
  const trust = createProjectTrust(home, await repositoryRoot(cwd));
  const { values } = await loadSettings({ home: home.path, environment, trust });
  const policies = [agentPermissions(agent, policy, await readProjectRules(home, cwd), values)];
  const history = createFileHistory({
    home: home.path,
    cwd,
    folders: [...new Set([...(agent.folders ?? []), ...values.folders])],
    environment,
  });
  const withHistory = (tool: Tool<BashInput, BashContext>): Tool => ({
    ...(tool as Tool),
    effectsOf: async (input, where) =>
      tool.effectsOf?.(input as BashInput, { ...where, context: { history } as Partial<BashContext> as BashContext }) ?? {},
  });
  const explainIn = (executor: Executor): Promise<ExplainedCall> =>
    explainCall({ tool: withHistory(createBashTool({ exec: executor })), input: { command }, policies, cwd, executor });
  const bare = await explainIn(createCodingExecutor(cwd, { sandbox: false, policy }));
  const sandboxed = await explainIn(createCodingExecutor(cwd, { sandbox: true, policy }));
  if (json) stdout.write(`${JSON.stringify({ command, bare, sandboxed })}\n`);
  else stdout.write(`${[...explanationLines("Without a sandbox", bare), "", ...explanationLines("In a sandbox", sandboxed)].join("\n")}\n`);
  return 0;
}
