import type { Effect, SessionId, Tool, ToolCall } from "@keelson/protocol";
import { shortHash } from "../../../json/digest.ts";
import { checkedApproval } from "../../../tools/define-tool.ts";
import { DEFAULT_MAX_OUTPUT_BYTES, type ToolDefinition } from "../../../tools/tool-definition.ts";
import type { Agent, AgentNeeding } from "../agent.ts";
import type { RunOutcome } from "../run.ts";
import { parseTask, TASK_SCHEMA } from "./task-input.ts";
import { checkOptionNames } from "../../../json/option-names.ts";

/** A task is handed on so many times at most before that counts as going in circles. */
export const MAX_HANDOFFS = 8;

/** Who is to go on, with what. */
export type Handoff = {
  readonly operator: string;
  readonly task: string;
  /** Whose conversation the next one goes on with; else it begins with the task alone. */
  readonly session?: SessionId;
};

/** The handoff that a run ended with, unless its own runtime carried it out already. */
export function handoffIn({ reason, effects }: Pick<RunOutcome<unknown>, "reason" | "effects">): Handoff | undefined {
  return reason === "handed-off" ? openHandoff(effects) : undefined;
}

export function openHandoff(effects: readonly Effect[]): Handoff | undefined {
  for (const effect of effects) {
    if (effect.type !== "handoff" || effect.meta?.outcome !== undefined) continue;
    const session = (effect.history as { readonly session?: SessionId } | undefined)?.session;
    return { operator: effect.operator, task: effect.task, ...(session !== undefined && { session }) };
  }
  return undefined;
}

export interface HandoffOptions {
  /** Default `hand_off_to_<agent>`. */
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  /** Whether the next agent goes on with the conversation. Default false: it is told the task alone. */
  readonly history?: boolean | undefined;
  /** True, or a function that returns true, if a person must allow the handoff. Default false. */
  readonly needsApproval?: ToolDefinition<{ readonly task: string }>["needsApproval"] | undefined;
}

/** A tool whose call ends the run: its task goes to another agent. */
export interface HandoffTool<Context = unknown> extends Tool<{ readonly task: string }, Context> {
  readonly handoff: { readonly operator: string };
  /** Absent where the agent is only named: the runner must have it. */
  readonly agent?: Agent<unknown, Context>;
}

/**
 * Lets a model hand the rest of its work to another agent. The run ends `handed-off` once the calls of that response are done, with
 * a `handoff` effect among `outcome.effects`. A parent or `handoff` of `keelson/orchestration` then starts the other agent.
 *
 * @param agent a definition, or the name of one that the runner has (agents that hand to each other can't hold each other)
 */
export function handoffTool(agent: string, options?: HandoffOptions): HandoffTool;
export function handoffTool<Context = unknown>(agent: AgentNeeding<Context>, options?: HandoffOptions): HandoffTool<Context>;
export function handoffTool<Context>(agent: AgentNeeding<Context> | string, options: HandoffOptions = {}): HandoffTool<Context> {
  checkOptionNames("handoffTool", options, { name: true, description: true, history: true, needsApproval: true });
  const operator = typeof agent === "string" ? agent : agent.name;
  const about = typeof agent === "string" || agent.description === "" ? "" : ` ${agent.description}`;
  const {
    name = `hand_off_to_${operator.replace(/[^\w-]/g, "_")}`,
    description = `Hands the rest of the work to the agent "${operator}" and ends yours.${about}`,
    history = false,
    needsApproval,
  } = options;
  const approval = checkedApproval({ ...options, name }, needsApproval);
  return {
    name,
    description,
    inputSchema: TASK_SCHEMA,
    effect: "idempotent",
    concurrency: "exclusive",
    risk: "none",
    version: shortHash(`${operator}/${description}/${String(history)}`),
    aliases: [],
    maxOutputBytes: DEFAULT_MAX_OUTPUT_BYTES,
    handoff: { operator },
    ...(typeof agent !== "string" && {
      agent: agent as Agent<unknown, Context>,
      ...(agent.needsContext && { needsContext: agent.needsContext }),
    }),
    ...(approval !== undefined && { needsApproval: approval }),
    parse: parseTask,
    execute({ task }, call: ToolCall) {
      call.declare?.({ type: "handoff", operator, task, ...(history && { history: { session: call.session } }) });
      return `Handed to ${operator}.`;
    },
  };
}

export function isHandoffTool(tool: Tool): tool is HandoffTool & Tool {
  return "handoff" in tool;
}
