import type { PermissionRule } from "@keelson/protocol";
import type { AgentOptions } from "./command-line.ts";
import type { ProgramOptions } from "./program-options.ts";

/** What the options say of the agent, whichever command it is for. */
export function agentOptions(options: ProgramOptions, rules: readonly PermissionRule[]): AgentOptions {
  return {
    rules,
    ...(options.model !== undefined && { model: options.model }),
    ...(options.fallbackModel !== undefined && { fallbackModel: options.fallbackModel }),
    ...(options.effort !== undefined && { effort: options.effort }),
    ...(options.appendSystemPrompt !== undefined && { appendSystemPrompt: options.appendSystemPrompt }),
    ...(options.jsonSchema !== undefined && { outputSchema: options.jsonSchema }),
    ...(options.addDir !== undefined && { folders: options.addDir }),
    ...(options.permissionMode !== undefined && { permissionMode: options.permissionMode }),
    ...(options.policy !== undefined && { policy: options.policy }),
    ...(options.sandbox !== undefined && { sandbox: options.sandbox }),
    ...(!options.mcp && { mcp: false }),
    ...(options.mcpConfig !== undefined && { mcpConfig: options.mcpConfig }),
    ...(options.maxTurns !== undefined && { maxTurns: options.maxTurns }),
    ...(options.maxBudgetUsd !== undefined && { maxCost: options.maxBudgetUsd }),
    ...(options.onBudget !== undefined && { onBudget: options.onBudget }),
    ...(options.timeout !== undefined && { timeoutMs: options.timeout }),
  };
}
