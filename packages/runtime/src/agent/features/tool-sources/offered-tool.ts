import type { JsonObject, Tool } from "@keelson/protocol";
import { canonicalJson } from "../../../json/canonical-json.ts";
import { plainJson } from "../../../json/plain-json.ts";
import type { OfferedTool } from "../../../session/offered-tool.ts";
import { checkToolFields } from "../../../tools/check-tool-fields.ts";
import { isDispatchTool } from "../../../tools/dispatch-tool.ts";
import { isHandoffTool } from "../../definition/children/handoff.ts";

/**
 * What is recorded of a tool that a source offers.
 * @throws an error that says why it can't be one of a run's
 */
export function offeredTool(tool: Tool): OfferedTool {
  checkToolFields(tool);
  if (isDispatchTool(tool) || isHandoffTool(tool))
    throw new TypeError(`"${tool.name}" stands for an agent, which a runner must know before it runs: put it among the agent's tools`);
  if (typeof tool.execute !== "function" || typeof tool.parse !== "function")
    throw new TypeError(`"${tool.name}" is no tool: make it with defineTool`);
  const { name, description, effect, concurrency, risk, version, aliases, timeoutMs, maxOutputBytes, category, needsApproval } = tool;
  return {
    name,
    description,
    inputSchema: plainJson(tool.inputSchema) as JsonObject,
    ...(tool.outputSchema !== undefined && { outputSchema: plainJson(tool.outputSchema) as JsonObject }),
    effect,
    concurrency,
    risk,
    version,
    aliases: [...aliases],
    ...(timeoutMs !== undefined && { timeoutMs }),
    maxOutputBytes,
    ...(category !== undefined && { category }),
    ...(needsApproval !== undefined && { needsApproval: needsApproval === true ? "always" : "decides" }),
  };
}

/** Whether a request, and a verdict on a call, would be the same with both. */
export function isSameOffer(one: OfferedTool, other: OfferedTool): boolean {
  return one === other || textOf(one) === textOf(other);
}

/** They are compared before every turn, and never change. */
const texts = new WeakMap<OfferedTool, string>();

function textOf(tool: OfferedTool): string {
  let text = texts.get(tool);
  if (text === undefined) texts.set(tool, (text = canonicalJson(tool)));
  return text;
}
