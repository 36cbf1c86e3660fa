import { AgentError, type JsonObject, type OperatorConfig, type Tool } from "@keelson/protocol";
import { canonicalJson } from "../../../json/canonical-json.ts";
import { shortHash } from "../../../json/digest.ts";
import { checkedApproval } from "../../../tools/define-tool.ts";
import { DEFAULT_MAX_OUTPUT_BYTES } from "../../../tools/tool-definition.ts";
import type { Agent, AgentNeeding } from "../agent.ts";
import { costLimit } from "../cost-limit.ts";
import { parseTask, TASK_SCHEMA } from "./task-input.ts";
import { checkOptionNames } from "../../../json/option-names.ts";
import type { AgentTool, AgentToolOptions } from "../agent.ts";

/** Offers an agent to another as a tool that takes a task. Its calls are shared: several children may work at once. */
export function agentTool<Context = unknown>(agent: AgentNeeding<Context>, options: AgentToolOptions = {}): AgentTool<Context> {
  checkOptionNames("agentTool", options, {
    name: true,
    description: true,
    limits: true,
    model: true,
    allowedTools: true,
    systemAddendum: true,
    background: true,
    needsApproval: true,
  });
  const {
    name = agent.name.replace(/[^\w-]/g, "_"),
    description = agent.description === "" ? `Hands a task to the agent "${agent.name}" and returns its answer.` : agent.description,
    background = false,
    needsApproval,
  } = options;
  const approval = checkedApproval({ ...options, name }, needsApproval);
  const config = configOf(options);
  return {
    name,
    description,
    inputSchema: TASK_SCHEMA,
    effect: "idempotent",
    concurrency: "shared",
    risk: "none",
    version: shortHash(
      config || background
        ? canonicalJson([agent.name, description, (config ?? {}) as JsonObject, background])
        : `${agent.name}/${description}`,
    ),
    aliases: [],
    maxOutputBytes: DEFAULT_MAX_OUTPUT_BYTES,
    dispatch: { operator: agent.name, ...(config && { config }) },
    agent: agent as Agent<unknown, Context>,
    ...(agent.needsContext && { needsContext: agent.needsContext }),
    ...(background && { background }),
    ...(approval !== undefined && { needsApproval: approval }),
    parse: parseTask,
    execute() {
      throw new TypeError(`the agent "${agent.name}" is started by a runner, not called`);
    },
  };
}

export function isAgentTool(tool: Tool): tool is AgentTool & Tool {
  return "agent" in tool && "dispatch" in tool;
}

function configOf({ limits = {}, model, allowedTools, systemAddendum }: AgentToolOptions): OperatorConfig | undefined {
  const { maxTurns, maxDurationMs } = limits;
  for (const [option, value] of Object.entries({ maxTurns, maxDurationMs }))
    if (value !== undefined && !(Number.isFinite(value) && value >= 1))
      throw new AgentError({
        kind: "invalid-option",
        option: `limits.${option}`,
        message: `limits.${option} of a tool for an agent must be a number of at least 1, not ${String(value)}.`,
      });
  const maxCost = costLimit(limits.maxCost);
  const config: OperatorConfig = {
    ...(maxTurns !== undefined && { maxTurns }),
    ...(maxCost !== undefined && { maxCost }),
    ...(maxDurationMs !== undefined && { maxDurationMs }),
    ...(model !== undefined && { model }),
    ...(allowedTools && { allowedOperators: allowedTools }),
    ...(systemAddendum !== undefined && { systemAddendum }),
  };
  return Object.keys(config).length === 0 ? undefined : config;
}
