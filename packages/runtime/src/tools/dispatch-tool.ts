import {
  type Content,
  type JsonObject,
  type OperatorConfig,
  type OperatorInput,
  type OperatorOutput,
  type SessionId,
  type Tool,
  ToolError,
} from "@keelson/protocol";
import type { JsonSchema, Schema } from "../schema/index.ts";
import { canonicalJson } from "../json/index.ts";
import { boundOutput, type OutputBounds } from "./bound-output.ts";
import { checkedApproval, completeFields } from "./define-tool.ts";
import { describeMissingOutput, hasOutput } from "./has-output.ts";
import type { LeafResult } from "./execute-leaf.ts";
import type { ToolDefinition, ToolFields } from "./tool-definition.ts";
import { checkOptionNames } from "../json/option-names.ts";

/** Which operator a tool stands for, and what it is told. */
export interface Dispatch {
  readonly operator: string;
  readonly config?: OperatorConfig;
  /** What the operator is told; default: the `task` of the input, else its canonical JSON. */
  message?(input: unknown): string | readonly Content[];
}

/** A tool that is an agent or another operator: the loop starts it as a child run with its own log. Its own `execute` only says so. */
export interface DispatchTool<In = unknown> extends Tool<In> {
  readonly dispatch: Dispatch;
}

/** `In` follows from `input`; beside a plain JSON Schema it is what the author annotates, else an object of JSON. */
export interface DispatchToolDefinition<In = JsonObject> extends ToolFields {
  /** Default: an object with a `task` in words. */
  readonly input?: Schema<In> | JsonSchema | undefined;
  /** The name it is registered by where the run is started. */
  readonly operator: string;
  readonly config?: OperatorConfig | undefined;
  /** True, or a function that returns true, if a person must allow a call before the operator starts. */
  needsApproval?: ToolDefinition<In>["needsApproval"];
  message?(input: In): string | readonly Content[];
}

const TASK: JsonSchema = {
  type: "object",
  properties: {
    task: { type: "string", description: "What to do, with all that has to be known for it: nothing of this conversation is seen." },
  },
  required: ["task"],
  additionalProperties: false,
};

/**
 * Offers an operator, usually an agent, as a tool.
 * @throws ToolError of kind `invalid-definition`, which names the option that is wrong
 */
export function operatorToTool<In = JsonObject>(definition: DispatchToolDefinition<In>): DispatchTool<NoInfer<In>> {
  checkOptionNames("operatorToTool", definition, {
    input: true,
    operator: true,
    config: true,
    message: true,
    needsApproval: true,
    name: true,
    description: true,
    effect: true,
    concurrency: true,
    risk: true,
    version: true,
    aliases: true,
    maxOutputBytes: true,
    category: true,
  });
  const { name, operator, config, input = TASK, message, needsApproval } = definition as DispatchToolDefinition<unknown>;
  const fields = completeFields(definition, input);
  if (typeof operator !== "string" || operator === "") {
    throw new ToolError({
      kind: "invalid-definition",
      tool: name,
      message: `Tool "${name}": \`operator\` must be the name of an operator`,
    });
  }
  const approval = checkedApproval(definition, needsApproval);
  return {
    ...fields.tool,
    ...(approval !== undefined && { needsApproval: approval }),
    dispatch: {
      operator,
      ...(config !== undefined && { config }),
      ...(message !== undefined && { message: (value: unknown) => message.call(definition, value) }),
    },
    parse: fields.input.validate as Tool<NoInfer<In>>["parse"],
    execute() {
      throw new ToolError({
        kind: "execution-failed",
        tool: name,
        message: `The tool "${name}" stands for the operator "${operator}": start that as a child run`,
      });
    },
  };
}

export function isDispatchTool(tool: Tool<unknown, never>): tool is DispatchTool {
  return typeof (tool as Partial<DispatchTool>).dispatch?.operator === "string";
}

/** What the operator of a prepared call is started with. Its arguments are in `metadata.input`. */
export function dispatchInput(
  tool: DispatchTool,
  call: { readonly input: JsonObject; readonly value: unknown },
  session?: SessionId,
): OperatorInput {
  const { config, message } = tool.dispatch;
  const told = message === undefined ? defaultMessage(call.input) : message.call(tool.dispatch, call.value);
  return {
    message: typeof told === "string" ? [{ type: "text", text: told }] : told,
    trigger: "task",
    ...(session !== undefined && { session }),
    ...(config !== undefined && { config }),
    metadata: { input: call.input },
  };
}

function defaultMessage(input: JsonObject): string {
  const { task, ...rest } = input;
  if (typeof task !== "string") return canonicalJson(input);
  return Object.keys(rest).length === 0 ? task : `${task}\n\n${canonicalJson(rest)}`;
}

const GOOD_ENDINGS: ReadonlySet<string> = new Set(["complete", "no-action", "handed-off"]);

/** Returns the result of a dispatch for the calling model. An operator that ended early, or without an output, is an error. */
export async function dispatchResult(tool: DispatchTool, output: OperatorOutput, bounds: OutputBounds = {}): Promise<LeafResult> {
  const { exitReason, message } = output;
  const endedWell = GOOD_ENDINGS.has(exitReason.type);
  const isMissing = endedWell && !hasOutput(message);
  const detail = "reason" in exitReason ? `: ${exitReason.reason}` : exitReason.type === "custom" ? `: ${exitReason.name}` : "";
  const early = `${tool.name} ended early: ${exitReason.type}${detail}`;
  const missing = describeMissingOutput(tool.name, exitReason.type);
  const note: readonly Content[] = endedWell && !isMissing ? [] : [{ type: "text", text: `[${isMissing ? missing : early}]` }];
  const shown = message.filter((part) => part.type === "text" || part.type === "image" || part.type === "file");
  const content = isMissing ? note : [...note, ...shown];
  const texts = content.map((part) => (part.type === "text" ? part.text : undefined));
  const plain = texts.every((text) => text !== undefined) ? texts.join("\n") : undefined;
  const bounded = await boundOutput(plain === undefined ? { type: "content", content } : plain, tool, bounds);
  return { ...bounded, isError: note.length > 0 };
}
