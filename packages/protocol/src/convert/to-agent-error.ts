import { AgentError, type AgentFailure } from "../errors/agent-error.ts";
import { DirectiveError } from "../errors/directive-error.ts";
import { EnvironmentError } from "../errors/environment-error.ts";
import { describeCause } from "../errors/keelson-error.ts";
import { LogError } from "../errors/log-error.ts";
import { McpError } from "../errors/mcp-error.ts";
import { ModelError } from "../errors/model-error.ts";
import { StateError } from "../errors/state-error.ts";
import { StrategyError } from "../errors/strategy-error.ts";
import { ToolError } from "../errors/tool-error.ts";
import { VfsError } from "../errors/vfs-error.ts";

/** Whatever reaches the boundary of an agent, as its error: only a model's failure keeps its structure, the original is the cause. */
export function toAgentError(error: unknown): AgentError {
  return AgentError.is(error) ? error : new AgentError(agentFailureOf(error), { cause: error });
}

/** A value thrown by user code that can influence the run. `callback` says which code. */
export function panicError(callback: string, thrown: unknown): AgentError {
  return new AgentError({ kind: "panic", callback, message: `${callback} threw: ${describeCause(thrown)}` }, { cause: thrown });
}

function agentFailureOf(error: unknown): AgentFailure {
  if (ModelError.is(error)) return { kind: "model", model: error.failure, message: error.message };
  if (ToolError.is(error)) return { kind: "tool", message: error.message, ...("tool" in error.failure && { tool: error.failure.tool }) };
  if (McpError.is(error)) return { kind: "tool", message: error.message, ...("tool" in error.failure && { tool: error.failure.tool }) };
  if (StrategyError.is(error)) return { kind: "strategy", message: error.message };
  if (DirectiveError.is(error)) return { kind: "directive", message: error.message };
  if (StateError.is(error) || LogError.is(error) || VfsError.is(error) || EnvironmentError.is(error))
    return { kind: "backend", message: error.message };
  return { kind: "other", message: describeCause(error) };
}
