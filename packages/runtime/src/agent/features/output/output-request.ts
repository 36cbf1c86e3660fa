import type { InferRequest, ToolSchema } from "@keelson/protocol";
import type { Model } from "../../definition/model-source.ts";
import type { Loop } from "../../turn/loop.ts";
import { schemasOf } from "../strategies/enforce-strategy.ts";
import type { OutputForm } from "../../definition/output/output-form.ts";
import { outputOf } from "./run-output.ts";

/** What a request offers: the tools that may be called, and the one that takes the output. */
export function offeredTools(loop: Loop): readonly ToolSchema[] {
  const schemas = schemasOf(loop);
  return outputOf(loop).form?.offer(schemas) ?? schemas;
}

const NOTHING = {};

/** What the settings of a request say of the structured output, where the agent has one. */
export function outputSettings(loop: Loop): Pick<InferRequest, "output" | "toolChoice"> {
  const { form } = outputOf(loop);
  return form === undefined
    ? NOTHING
    : { ...(form.output && { output: form.output }), ...(form.tool && mustCall(loop) && { toolChoice: "required" as const }) };
}

/**
 * Whether the model is made to call a tool: where the only one takes its output, and where it just responded in another way. A
 * model that has work to do is left free; so is one that thinks, since vendors refuse to force it.
 */
function mustCall(loop: Loop): boolean {
  const { thinking, settings } = loop.agent.options;
  if (settings?.toolChoice !== undefined || (thinking !== undefined && thinking.type !== "disabled")) return false;
  return outputOf(loop).repairing || schemasOf(loop).length === 0;
}

/** Why a model can't give the output in this way, if so. What is not known of it is not held against it. */
export function modelProblem({ mode }: OutputForm, { reference, facts }: Pick<Model, "reference" | "facts">): string | undefined {
  const { structuredOutput, toolCalling } = facts.capabilities ?? {};
  if (mode === "native" && structuredOutput === false)
    return `outputMode "native" needs a vendor that holds responses to a schema, which ${reference} is not: use "${toolCalling === false ? "prompt" : "tool"}", or another model`;
  if (mode === "tool" && toolCalling === false)
    return `outputMode "tool" needs a model that calls tools, which ${reference} does not: use outputMode "${structuredOutput === false ? "prompt" : "native"}", or another model`;
  return undefined;
}
