import { AgentError, type JsonObject, type OperatorConfig, type Tool, type Usd } from "@keelson/protocol";
import { canonicalJson } from "../../json/canonical-json.ts";
import { shortHash } from "../../json/digest.ts";
import { DEFAULT_MAX_OUTPUT_BYTES } from "../../tools/tool-definition.ts";
import type { Agent } from "../agent.ts";
import { costLimit } from "../cost-limit.ts";
import { parseTask, TASK_SCHEMA } from "./task-input.ts";
import { checkOptionNames } from "../../json/option-names.ts";

/** How an agent is offered to another as a tool. */
export interface AgentToolOptions {
  /** Default: the agent's name. */
  readonly name?: string | undefined;
  /** Default: the agent's. */
  readonly description?: string | undefined;
  /** Of each call, on top of the agent's own limits. */
  readonly limits?:
    | {
        readonly maxTurns?: number | undefined;
        readonly maxCost?: Usd | string | number | undefined;
        readonly maxDurationMs?: number | undefined;
      }
    | undefined;
  /** Instead of the agent's. */
  readonly model?: string | undefined;
  /** When given, it may call only these of its tools. */
  readonly allowedTools?: readonly string[] | undefined;
  /** Appended to its instructions. */
  readonly systemAddendum?: string | undefined;
  /**
   * The call is answered at once, and the agent works beside the turns; its result follows as a user message. Default false: the
   * call is answered by the agent.
   */
  readonly background?: boolean | undefined;
}

/** A tool that a runner starts as a child run of an agent, with its own log. */
export interface AgentTool extends Tool<{ readonly task: string }> {
  readonly dispatch: { readonly operator: string; readonly config?: OperatorConfig };
  readonly agent: Agent<unknown>;
  readonly background?: true;
}

/** Offers an agent to another as a tool that takes a task. Its calls are shared: several children may work at once. */
export function agentTool(agent: Agent<never> | Agent<unknown> | Agent<undefined>, options: AgentToolOptions = {}): AgentTool {
  checkOptionNames("agentTool", options, {
    name: true,
    description: true,
    limits: true,
    model: true,
    allowedTools: true,
    systemAddendum: true,
    background: true,
  });
  const {
    name = agent.name.replace(/[^\w-]/g, "_"),
    description = agent.description === "" ? `Hands a task to the agent "${agent.name}" and returns its answer.` : agent.description,
    background = false,
  } = options;
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
    agent: agent as Agent<unknown>,
    ...(background && { background }),
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
