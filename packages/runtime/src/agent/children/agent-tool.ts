import type { Tool } from "@keelson/protocol";
import { shortHash } from "../../json/digest.ts";
import { DEFAULT_MAX_OUTPUT_BYTES } from "../../tools/tool-definition.ts";
import type { Agent } from "../agent.ts";

/** A tool that a runner starts as a child run of an agent, with its own log. */
export interface AgentTool extends Tool<{ readonly task: string }> {
  readonly dispatch: { readonly operator: string };
  readonly agent: Agent<unknown>;
}

/** Offers an agent to another as a tool that takes a task. Its calls are shared: several children may work at once. */
export function agentTool(
  agent: Agent<never> | Agent<unknown> | Agent<undefined>,
  options: { readonly name?: string; readonly description?: string } = {},
): AgentTool {
  const {
    name = agent.name.replace(/[^\w-]/g, "_"),
    description = agent.description === "" ? `Hands a task to the agent "${agent.name}" and returns its answer.` : agent.description,
  } = options;
  return {
    name,
    description,
    inputSchema: {
      type: "object",
      properties: { task: { type: "string", description: "The whole task: the agent sees nothing else." } },
      required: ["task"],
      additionalProperties: false,
    },
    effect: "idempotent",
    concurrency: "shared",
    risk: "none",
    version: shortHash(`${agent.name}/${description}`),
    aliases: [],
    maxOutputBytes: DEFAULT_MAX_OUTPUT_BYTES,
    dispatch: { operator: agent.name },
    agent: agent as Agent<unknown>,
    parse(input) {
      const task = (input as { readonly task?: unknown } | null)?.task;
      return typeof task === "string" && task !== ""
        ? { value: { task } }
        : { issues: [{ message: "task must be a text that is not empty", path: ["task"] }] };
    },
    execute() {
      throw new TypeError(`the agent "${agent.name}" is started by a runner, not called`);
    },
  };
}

export function isAgentTool(tool: Tool): tool is AgentTool & Tool {
  return "agent" in tool && "dispatch" in tool;
}
